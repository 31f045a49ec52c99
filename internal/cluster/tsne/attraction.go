package tsne

import (
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// attraction sums p_ij (1+d_ij^2)^-1 (y_i - y_j) over the neighbors j of each i.
type attraction struct {
	*affinities
	y     []point
	force []point // by rows
}

const attractionRows = 128

func (a *attraction) at(y []point) {
	a.y = y
	par.Do(a.n, attractionRows, a)
}

// Run does rows [lo, hi).
func (a *attraction) Run(lo, hi int) {
	y := a.y
	for i := lo; i < hi; i++ {
		to := a.to[a.start[i]:a.start[i+1]]
		p := a.p[a.start[i]:a.start[i+1]]
		p = p[:len(to)]
		at := y[i]
		fx, fy := 0.0, 0.0
		for e, j := range to {
			q := &y[j]
			x, y := at.x-q.x, at.y-q.y
			w := float64(p[e]) / (1 + float64(x*x) + float64(y*y))
			fx += float64(w * x)
			fy += float64(w * y)
		}
		a.force[i] = point{fx, fy}
	}
}

// spreading sums p_ij log(1+d_ij^2).
type spreading struct {
	*affinities
	y       []point
	sums    []float64 // of chunks of rows
	scratch par.Free[[]float32]
}

func (s *spreading) at(y []point) float64 {
	s.y = y
	s.sums = append(s.sums[:0], make([]float64, (s.n+attractionRows-1)/attractionRows)...)
	par.Do(s.n, attractionRows, s)
	sum := 0.0
	for _, v := range s.sums {
		sum += v
	}
	return sum
}

// Run does rows [lo, hi), a whole chunk.
func (s *spreading) Run(lo, hi int) {
	first, last := s.start[lo], s.start[hi]
	scratch := s.scratch.Get()
	if cap(*scratch) < last-first {
		*scratch = make([]float32, last-first)
	}
	logs := (*scratch)[:last-first]
	for i := lo; i < hi; i++ {
		at := s.y[i]
		for e := s.start[i]; e < s.start[i+1]; e++ {
			v := s.y[s.to[e]]
			x, y := at.x-v.x, at.y-v.y
			logs[e-first] = float32(1 + float64(x*x) + float64(y*y))
		}
	}
	kernel.Log(logs, logs)
	s.sums[lo/attractionRows] = kernel.Dot(s.p[first:last], logs)
	s.scratch.Put(scratch)
}
