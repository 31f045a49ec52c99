package loss

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// ErrNonFinite is wrapped by every error about a NaN or infinite distance.
var ErrNonFinite = errors.New("non-finite distance")

// Distance names the distance between two embeddings that a loss works on.
type Distance string

const (
	// Euclidean is |x - y + eps|: with eps 1e-6 on every coordinate, as in
	// PyTorch's pairwise_distance, its gradient at x = y is not zero.
	Euclidean Distance = "euclidean"
	// Squared is |x - y|^2; eps is not used.
	Squared Distance = "squared"
)

// Distances lists the valid distances.
func Distances() []Distance { return []Distance{Euclidean, Squared} }

func (d Distance) validate() error {
	switch d {
	case Euclidean, Squared:
		return nil
	}
	return fmt.Errorf("loss: unknown distance %q (valid: euclidean, squared)", string(d))
}

// edge is an ordered pair of rows whose distance a loss uses.
type edge struct{ i, j int32 }

// edges measures the distances of a list of row pairs, and pulls a gradient with
// respect to these distances back to the rows. A loss that is a function of
// distances fills pairs, calls measure, writes coef = dLoss/d(dist) and calls
// pull. Scratch grows to the largest batch seen and is then reused.
type edges struct {
	distance Distance
	eps      float64 // added to every coordinate difference; Euclidean only

	pairs []edge
	dist  []float64 // dist[e]: distance of pairs[e]
	coef  []float64 // coef[e]: dLoss/d(dist[e])

	measuring measureJob
	pulling   pullJob
	acc       []float64 // (B, D) gradient in float64
}

func newEdges(d Distance, eps float64) edges {
	if d == Squared {
		eps = 0
	}
	return edges{distance: d, eps: eps}
}

// check returns an error unless z is (B, D) and grad is nil or of z's shape.
func (g *edges) check(z, grad *array.Array) error {
	if len(z.Shape) != 2 { // SameShape alone would allocate its list
		return fmt.Errorf("loss: %w", z.SameShape("embeddings", -1, -1))
	}
	if grad != nil {
		if err := grad.SameShape("gradient", z.Shape...); err != nil {
			return fmt.Errorf("loss: %w", err)
		}
	}
	return nil
}

// measure fills dist for pairs. A NaN or infinite distance is an error: behind a
// hinge it would otherwise pass as a loss of 0.
func (g *edges) measure(z *array.Array) error {
	n := len(g.pairs)
	g.dist, g.coef = grow(g.dist, n), grow(g.coef, n)
	g.measuring = measureJob{g, z}
	par.Do(n, 32, &g.measuring)
	for e, d := range g.dist {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			p := g.pairs[e]
			return fmt.Errorf("loss: %w: rows %d and %d of the batch are %v apart; their embeddings hold NaN or infinite numbers", ErrNonFinite, p.i, p.j, d)
		}
	}
	return nil
}

type measureJob struct {
	g *edges
	z *array.Array
}

// Run measures pairs [lo, hi).
func (m *measureJob) Run(lo, hi int) {
	g := m.g
	cols := m.z.Shape[1]
	for e := lo; e < hi; e++ {
		p := g.pairs[e]
		x := m.z.Data[int(p.i)*cols:][:cols]
		y := m.z.Data[int(p.j)*cols:][:cols]
		var s float64
		for k, v := range x {
			d := float64(v) - float64(y[k]) + g.eps
			s += d * d
		}
		if g.distance == Euclidean {
			s = math.Sqrt(s)
		}
		g.dist[e] = s
	}
}

// pull overwrites grad with the sum over edges of coef[e] * d(dist[e])/dz. The
// order of the sum is the order of the edges, whatever the number of threads.
// The Euclidean distance has gradient 0 where it is 0 (possible with eps 0).
func (g *edges) pull(z, grad *array.Array) {
	for e, c := range g.coef {
		switch {
		case g.distance == Squared:
			g.coef[e] = 2 * c
		case g.dist[e] > 0:
			g.coef[e] = c / g.dist[e]
		default:
			g.coef[e] = 0
		}
	}
	g.acc = grow(g.acc, len(z.Data))
	g.pulling = pullJob{g, z, grad}
	par.Do(z.Shape[1], 64, &g.pulling)
}

type pullJob struct {
	g       *edges
	z, grad *array.Array
}

// Run accumulates columns [lo, hi) of all rows.
func (p *pullJob) Run(lo, hi int) {
	g, z := p.g, p.z
	rows, cols := z.Shape[0], z.Shape[1]
	for r := range rows {
		clear(g.acc[r*cols+lo : r*cols+hi])
	}
	for e, c := range g.coef {
		if c == 0 {
			continue
		}
		i, j := int(g.pairs[e].i)*cols, int(g.pairs[e].j)*cols
		x, y := z.Data[i+lo:i+hi], z.Data[j+lo:j+hi]
		gx, gy := g.acc[i+lo:i+hi], g.acc[j+lo:j+hi]
		for k, v := range x {
			d := c * (float64(v) - float64(y[k]) + g.eps)
			gx[k] += d
			gy[k] -= d
		}
	}
	for r := range rows {
		for k := r*cols + lo; k < r*cols+hi; k++ {
			p.grad.Data[k] = float32(g.acc[k])
		}
	}
}

// grow returns s with length n, reusing its storage where it suffices.
func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
