package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// angles measures the cosines of a list of row pairs, and pulls a gradient with
// respect to these cosines back to the rows. A loss that is a function of cosines
// calls load, writes coef = dLoss/d(cos) and calls pull. Scratch grows to the
// largest batch seen and is then reused.
type angles struct {
	eps float64 // added to squared lengths

	z      *array.Array
	pairs  []edge
	square []float64 // (B) |z_i|^2 + eps
	cos    []float64 // cos[e]: x.y / sqrt(square_i square_j), 0 where that is 0/0
	coef   []float64 // coef[e]: dLoss/d(cos[e]); pull turns it into the weight of the other row
	self   []float64 // (B) weight of a row in its own gradient
	ends   incidence

	lengths lengthJob
	dots    dotJob
	turning turnJob
}

// rounding is what a cosine may miss 1 by for parallel rows; it is then taken as
// 1, so that pairs of equal rows cost nothing.
const rounding = 1e-14

// load checks z (B, D), pairs and grad, and fills square and cos. A cosine that is NaN is
// an error: behind a hinge it would otherwise pass as a loss of 0.
func (g *angles) load(z *array.Array, pairs []Pair, grad *array.Array) error {
	if err := CheckShapes(z, grad); err != nil {
		return err
	}
	rows := z.Shape[0]
	if err := checkPairs(pairs, rows); err != nil {
		return err
	}
	g.z = z
	g.pairs = g.pairs[:0]
	for _, p := range pairs {
		g.pairs = append(g.pairs, edge{p.I, p.J})
	}
	g.square, g.self = Grow(g.square, rows), Grow(g.self, rows)
	g.cos, g.coef = Grow(g.cos, len(pairs)), Grow(g.coef, len(pairs))
	g.ends.build(g.pairs, rows)
	g.lengths.g, g.dots.g = g, g
	par.Do(rows, rowChunk(z.Shape[1]), &g.lengths)
	par.Do(len(pairs), rowChunk(z.Shape[1]), &g.dots)
	for e, c := range g.cos {
		if math.IsNaN(c) {
			p := g.pairs[e]
			return fmt.Errorf("loss: %w: rows %d and %d of the batch have no cosine; their embeddings hold NaN or infinite numbers", ErrNonFinite, p.i, p.j)
		}
	}
	return nil
}

// turns reports whether the cosine c of p changes when its rows move.
func (g *angles) turns(p Pair, c float64) bool {
	return math.Abs(c) < 1 && g.square[p.I] > 0 && g.square[p.J] > 0
}

type lengthJob struct{ g *angles }

// Run fills the squared lengths of rows [lo, hi) that lie in a pair.
func (j *lengthJob) Run(lo, hi int) {
	g := j.g
	cols := g.z.Shape[1]
	for r := lo; r < hi; r++ {
		g.square[r] = 0
		if len(g.ends.at(r)) > 0 {
			x := g.z.Data[r*cols:][:cols]
			g.square[r] = kernel.Dot(x, x) + g.eps
		}
	}
}

type dotJob struct{ g *angles }

// Run fills the cosines of pairs [lo, hi).
func (j *dotJob) Run(lo, hi int) {
	g := j.g
	cols := g.z.Shape[1]
	for e := lo; e < hi; e++ {
		p := g.pairs[e]
		c := kernel.Dot(g.z.Data[int(p.i)*cols:][:cols], g.z.Data[int(p.j)*cols:][:cols])
		// Two roots: the product of two squares could overflow or vanish.
		if l := math.Sqrt(g.square[p.i]) * math.Sqrt(g.square[p.j]); l > 0 {
			c /= l
		}
		if math.Abs(c) > 1-rounding {
			c = math.Copysign(1, c)
		}
		g.cos[e] = c
	}
}

// pull overwrites grad with the sum over pairs of coef[e] * d(cos[e])/dz, where
//
//	d(cos)/dx = y/(|x||y|) - cos x/|x|^2
//
// and 0 at a length of 0. The order of the sums is that of the pairs.
func (g *angles) pull(grad *array.Array) {
	clear(g.self)
	for e, c := range g.coef {
		p := g.pairs[e]
		qi, qj := g.square[p.i], g.square[p.j]
		g.coef[e] = 0
		if c == 0 || qi == 0 || qj == 0 {
			continue
		}
		g.coef[e] = c / (math.Sqrt(qi) * math.Sqrt(qj))
		g.self[p.i] -= c * g.cos[e] / qi
		g.self[p.j] -= c * g.cos[e] / qj
	}
	g.turning = turnJob{g, grad}
	par.Do(g.z.Shape[0], rowChunk(g.z.Shape[1]), &g.turning)
}

type turnJob struct {
	g    *angles
	grad *array.Array
}

// Run writes the gradients of rows [lo, hi).
func (j *turnJob) Run(lo, hi int) {
	g := j.g
	cols := g.z.Shape[1]
	var acc [Block]float64
	for r := lo; r < hi; r++ {
		ends := g.ends.at(r)
		for from := 0; from < cols; from += Block {
			n := min(Block, cols-from)
			out := j.grad.Data[r*cols+from:][:n]
			if len(ends) == 0 {
				clear(out)
				continue
			}
			sum := acc[:n]
			clear(sum)
			kernel.AddScaled(g.self[r], g.z.Data[r*cols+from:][:n], sum)
			for _, end := range ends {
				p := g.pairs[end/2]
				other := int(p.j)
				if end%2 == 1 {
					other = int(p.i)
				}
				kernel.AddScaled(g.coef[end/2], g.z.Data[other*cols+from:][:n], sum)
			}
			Narrow(sum, out)
		}
	}
}
