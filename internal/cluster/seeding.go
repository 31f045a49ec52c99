package cluster

import (
	"context"
	"math"
	"sort"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// seedChunk is the number of rows whose potential is summed at a time; partial
// sums are added in order, whatever the number of threads.
const seedChunk = 1024

// seed picks the first centres by greedy k-means++: of 2+floor(ln k) rows drawn
// with probability proportional to their squared distance to the nearest centre
// so far, the one that leaves the least sum of such distances.
func (l *lloyd) seed(ctx context.Context, r *rng.Stream) error {
	s := newSeeding(l)
	chosen := r.IntN(l.data.n)
	s.try([]int{chosen})
	s.take(0)
	l.setCentre(0, chosen)
	for c := 1; c < l.k; c++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for t := range s.rows {
			s.rows[t] = s.draw(r)
		}
		best := s.try(s.rows)
		s.take(best)
		l.setCentre(c, s.rows[best])
	}
	return nil
}

type seeding struct {
	l         *lloyd
	chunks    int // of rows
	rows      []int
	candidate []float32 // (trials, d)
	dist      []float32 // (n, trials): squared distance to the nearest centre with that candidate added
	norm      []float32 // ||x||^2 of each row
	nearest   []float32 // squared distance to the nearest centre
	chunk     []float64 // of each chunk of rows, the sum of nearest up to its end
	sums      []float64 // (trials, chunks)
	trying    []int     // rows that are candidates of this try
}

func newSeeding(l *lloyd) *seeding {
	n, d := l.data.n, l.data.d
	trials := 2 + int(math.Log(float64(l.k)))
	chunks := (n + seedChunk - 1) / seedChunk
	s := &seeding{l: l, chunks: chunks, rows: make([]int, trials), candidate: make([]float32, trials*d), dist: make([]float32, trials*n),
		norm: make([]float32, n), nearest: make([]float32, n), sums: make([]float64, trials*chunks)}
	for i := range n {
		s.norm[i] = float32(kernel.SumSquares(l.data.row(i)))
		s.nearest[i] = float32(math.Inf(1))
	}
	return s
}

// try measures all rows against the candidate rows and returns the candidate
// with the least potential, the first of equals.
func (s *seeding) try(rows []int) int {
	n, d := s.l.data.n, s.l.data.d
	for t, i := range rows {
		copy(s.candidate[t*d:(t+1)*d], s.l.data.row(i))
	}
	kernel.Gemm(false, true, n, len(rows), d, -2, s.l.data.x, d, s.candidate, d, 0, s.dist, len(rows))
	s.trying = rows
	par.Do(n, seedChunk, s)
	best, least := 0, math.Inf(1)
	for t := range rows {
		var sum float64
		for _, v := range s.sums[t*s.chunks : (t+1)*s.chunks] {
			sum += v
		}
		if sum < least {
			best, least = t, sum
		}
	}
	return best
}

// Run finishes the distances of rows [lo, hi), one chunk, and sums them.
func (s *seeding) Run(lo, hi int) {
	trials := len(s.trying)
	for t, candidate := range s.trying {
		own := s.norm[candidate]
		var sum float64
		for i := lo; i < hi; i++ {
			v := &s.dist[i*trials+t]
			*v = min(max(*v+own+s.norm[i], 0), s.nearest[i])
			if i == candidate {
				*v = 0
			}
			sum += float64(*v)
		}
		s.sums[t*s.chunks+lo/seedChunk] = sum
	}
}

// take makes candidate t of the last try a centre.
func (s *seeding) take(t int) {
	for i := range s.nearest {
		s.nearest[i] = s.dist[i*len(s.trying)+t]
	}
	s.chunk = s.chunk[:0]
	var sum float64
	for _, v := range s.sums[t*s.chunks : (t+1)*s.chunks] {
		sum += v
		s.chunk = append(s.chunk, sum)
	}
}

// draw picks a row with probability proportional to nearest, any row where all
// are 0.
func (s *seeding) draw(r *rng.Stream) int {
	n := s.l.data.n
	total := s.chunk[len(s.chunk)-1]
	if !(total > 0) {
		return r.IntN(n)
	}
	u := r.Float64() * total
	c := sort.Search(len(s.chunk), func(c int) bool { return s.chunk[c] > u })
	if c == len(s.chunk) {
		c--
	}
	if c > 0 {
		u -= s.chunk[c-1]
	}
	last := -1
	for i := c * seedChunk; i < min(n, (c+1)*seedChunk); i++ {
		if v := float64(s.nearest[i]); v > 0 {
			last = i
			if u -= v; u < 0 {
				return i
			}
		}
	}
	if last < 0 { // only where rounding put u at the border of an all-zero chunk
		return c * seedChunk
	}
	return last
}
