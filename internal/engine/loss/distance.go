package loss

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// ErrNonFinite is wrapped by every error about a NaN or infinite distance or
// cosine.
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

	ends      incidence
	measuring measureJob
	pulling   pullJob
}

func newEdges(d Distance, eps float64) edges {
	if d == Squared {
		eps = 0
	}
	return edges{distance: d, eps: eps}
}

// checkShapes returns an error unless z is (B, D) and grad is nil or of z's
// shape.
func checkShapes(z, grad *array.Array) error {
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
	par.Do(n, rowChunk(z.Shape[1]), &g.measuring)
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
		s := squaredDistance(x, y, g.eps)
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
	g.ends.build(g.pairs, z.Shape[0])
	g.pulling = pullJob{g, z, grad}
	par.Do(z.Shape[0], rowChunk(z.Shape[1]), &g.pulling)
}

type pullJob struct {
	g       *edges
	z, grad *array.Array
}

// Run writes the gradients of rows [lo, hi).
func (p *pullJob) Run(lo, hi int) {
	g, z := p.g, p.z
	cols, eps := z.Shape[1], g.eps
	var acc [block]float64
	for r := lo; r < hi; r++ {
		for from := 0; from < cols; from += block {
			n := min(block, cols-from)
			sum := acc[:n]
			clear(sum)
			for _, end := range g.ends.at(r) {
				c := g.coef[end/2]
				if c == 0 {
					continue
				}
				e := g.pairs[end/2]
				if end%2 == 1 {
					c = -c
				}
				x, y := z.Data[int(e.i)*cols+from:][:n], z.Data[int(e.j)*cols+from:][:n]
				for k := range sum {
					sum[k] += c * (float64(x[k]) - float64(y[k]) + eps)
				}
			}
			for k, v := range sum {
				p.grad.Data[r*cols+from+k] = float32(v)
			}
		}
	}
}

// squaredDistance returns the sum of (x_k - y_k + eps)^2 for x and y of equal
// length, in float64: four interleaved sums, added at the end.
func squaredDistance(x, y []float32, eps float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		d0 := float64(x[0]) - float64(y[0]) + eps
		d1 := float64(x[1]) - float64(y[1]) + eps
		d2 := float64(x[2]) - float64(y[2]) + eps
		d3 := float64(x[3]) - float64(y[3]) + eps
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		x, y = x[4:], y[4:]
	}
	for k, v := range x {
		d := float64(v) - float64(y[k]) + eps
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}
