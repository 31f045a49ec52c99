package loss

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
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

// farthest is the largest distance of two embeddings of length 1.
func (d Distance) farthest() float64 {
	if d == Squared {
		return 4
	}
	return 2
}

// checkEps refuses an eps above most, where it is no longer small against distances.
func checkEps(eps, most float64) []component.Fault {
	if eps <= most {
		return nil
	}
	return []component.Fault{component.Faultf("eps", "must be at most %s, is %s", component.Number(most), component.Number(eps))}
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

	sums      rowSums // Euclidean with eps only
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

// CheckShapes returns an error unless z is (B, D) and grad is nil or of z's
// shape.
func CheckShapes(z, grad *array.Array) error {
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
	g.dist, g.coef = Grow(g.dist, n), Grow(g.coef, n)
	if g.eps != 0 {
		g.sums.fill(z)
	}
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

// at returns edge e.
func (g *edges) at(e int) entry { return entry{&g.dist[e], &g.coef[e]} }

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
		s := kernel.SquaredDistance(x, y)
		if g.eps != 0 {
			s = g.sums.shift(s, int(p.i), int(p.j), cols, g.eps)
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
	g.ends.build(g.pairs, z.Shape[0])
	g.pulling = pullJob{g, z, grad}
	par.Do(z.Shape[0], rowChunk(z.Shape[1]), &g.pulling)
}

type pullJob struct {
	g       *edges
	z, grad *array.Array
}

// Run writes the gradients of rows [lo, hi), and those of rows whose only edge is
// the first one's too.
func (p *pullJob) Run(lo, hi int) {
	g, z := p.g, p.z
	cols, eps := z.Shape[1], g.eps
	row := func(r int32) []float32 { return z.Data[int(r)*cols:][:cols] }
	out := func(r int32) []float32 { return p.grad.Data[int(r)*cols:][:cols] }
	var acc [Block]float64
	for r := int32(lo); r < int32(hi); r++ {
		ends := g.ends.at(int(r))
		if len(ends) == 1 {
			e := g.pairs[ends[0]/2]
			alone := len(g.ends.at(int(e.i))) == 1 && len(g.ends.at(int(e.j))) == 1
			switch first := ends[0]%2 == 0; {
			case alone && first:
				opposite(g.coef[ends[0]/2], row(e.i), row(e.j), eps, out(e.i), out(e.j))
			case alone: // done with the first end
			case first:
				difference(g.coef[ends[0]/2], row(e.i), row(e.j), eps, out(e.i))
			default:
				difference(-g.coef[ends[0]/2], row(e.i), row(e.j), eps, out(e.j))
			}
			continue
		}
		for from := 0; from < cols; from += Block {
			n := min(Block, cols-from)
			sum := acc[:n]
			clear(sum)
			for _, end := range ends {
				c := g.coef[end/2]
				if c == 0 {
					continue
				}
				if end%2 == 1 {
					c = -c
				}
				e := g.pairs[end/2]
				kernel.AddDifference(c, eps, row(e.i)[from:from+n], row(e.j)[from:from+n], sum)
			}
			Narrow(sum, out(r)[from:from+n])
		}
	}
}

// opposite sets a = c (x - y + eps) and b = -a.
func opposite(c float64, x, y []float32, eps float64, a, b []float32) {
	y, a, b = y[:len(x)], a[:len(x)], b[:len(x)]
	for k, v := range x {
		d := float32(c * (float64(v) - float64(y[k]) + eps))
		a[k], b[k] = d, -d
	}
}

// difference sets a = c (x - y + eps).
func difference(c float64, x, y []float32, eps float64, a []float32) {
	y, a = y[:len(x)], a[:len(x)]
	for k, v := range x {
		a[k] = float32(c * (float64(v) - float64(y[k]) + eps))
	}
}

// Narrow rounds sum to out.
func Narrow(sum []float64, out []float32) {
	out = out[:len(sum)]
	for k, v := range sum {
		out[k] = float32(v)
	}
}

// evalPairs is Eval of losses on pairs whose terms are of their distances alone.
func (g *edges) evalPairs(z *array.Array, pairs []Pair, at func(similar bool, distance float64) pairTerm, reduce Reduction, grad *array.Array) (Result, error) {
	g.pairs = g.pairs[:0]
	for _, p := range pairs {
		g.pairs = append(g.pairs, edge{p.I, p.J})
	}
	if err := g.measure(z); err != nil {
		return Result{}, err
	}
	var sums pairSums
	for i, p := range pairs {
		term := at(p.Similar, g.dist[i])
		g.coef[i] = term.slope
		sums.add(p, term)
	}
	res, scale := sums.finish(reduce)
	g.pullScaled(scale, z, grad)
	return res, nil
}

// pullScaled is pull with coef times scale; a nil grad is left out.
func (g *edges) pullScaled(scale float64, z, grad *array.Array) {
	if grad == nil {
		return
	}
	for e := range g.coef {
		g.coef[e] *= scale
	}
	g.pull(z, grad)
}
