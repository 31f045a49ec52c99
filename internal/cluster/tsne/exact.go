package tsne

import (
	"context"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// exact are the forces of dense affinities between all pairs, each by itself.
type exact struct {
	n          int
	p          []float32 // (n, n), of sum 1
	negentropy float64   // sum of p log p

	y              []point
	attract, repel []point
	z              []float64 // by rows
	spread         exactSpread
}

// exactSpread sums p_ij log(1+d_ij^2) by rows.
type exactSpread struct {
	e    *exact
	sums []float64
}

// newExact makes P of all pairs, p_ij = (p(j|i) + p(i|j)) / 2n.
func newExact(ctx context.Context, x []float32, n, d int, perplexity float64) (*exact, error) {
	e := &exact{n: n, p: make([]float32, n*n), attract: make([]point, n), repel: make([]point, n), z: make([]float64, n)}
	e.spread = exactSpread{e, make([]float64, n)}
	par.For(n, 16, func(lo, hi int) {
		d2, p := make([]float64, n-1), make([]float64, n-1)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			for j := range n - 1 {
				d2[j] = kernel.SquaredDistance(x[i*d:(i+1)*d], x[others(i, j)*d:][:d])
			}
			conditional(d2, perplexity, p)
			for j, v := range p {
				e.p[i*n+others(i, j)] = float32(v / float64(2*n))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range n {
		for j := range i {
			v := e.p[i*n+j] + e.p[j*n+i]
			e.p[i*n+j], e.p[j*n+i] = v, v
		}
	}
	e.negentropy = negentropy(e.p)
	return e, nil
}

// others returns the j-th row that is not i.
func others(i, j int) int {
	if j >= i {
		return j + 1
	}
	return j
}

func (e *exact) at(y []point) (attract, repel []point, z float64) {
	e.y = y
	par.Do(e.n, 16, e)
	for _, v := range e.z {
		z += v
	}
	return e.attract, e.repel, z
}

// Run does rows [lo, hi).
func (e *exact) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		at := e.y[i]
		var attract, repel point
		z := 0.0
		for j, p := range e.p[i*e.n : (i+1)*e.n] {
			x, y := at.x-e.y[j].x, at.y-e.y[j].y
			w := 1 / (1 + float64(x*x) + float64(y*y))
			z += w
			pw := float64(p) * w
			attract.x += float64(pw * x)
			attract.y += float64(pw * y)
			w *= w
			repel.x += float64(w * x)
			repel.y += float64(w * y)
		}
		e.attract[i], e.repel[i], e.z[i] = attract, repel, z-1 // it met itself
	}
}

// divergence is as barnesHut's.
func (e *exact) divergence(y []point, z float64) float64 {
	e.y = y
	par.Do(e.n, 16, &e.spread)
	sum := 0.0
	for _, v := range e.spread.sums {
		sum += v
	}
	return e.negentropy + sum + math.Log(z)
}

// Run does rows [lo, hi).
func (s *exactSpread) Run(lo, hi int) {
	e := s.e
	for i := lo; i < hi; i++ {
		at := e.y[i]
		sum := 0.0
		for j, p := range e.p[i*e.n : (i+1)*e.n] {
			x, y := at.x-e.y[j].x, at.y-e.y[j].y
			sum += float64(float64(p) * math.Log1p(float64(x*x)+float64(y*y)))
		}
		s.sums[i] = sum
	}
}

// partition returns Z at y by all pairs.
func partition(y []point) float64 {
	const rows = 64
	n := len(y)
	z := make([]float64, n)
	par.Each(n, rows, func(i int) {
		z[i], _ = direct(y[i], y)
	})
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	return sum - float64(n)
}
