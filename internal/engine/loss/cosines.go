package loss

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// unitEps is the length below which a row counts as 0: its cosines and its gradient are 0.
const unitEps = 1e-12

// Units are rows, such as embeddings or proxies, and the rows of length 1 in their
// directions. Scratch grows to the largest batch seen and is then reused.
type Units struct {
	Rows, Dim int
	Hat       []float32 // (Rows, Dim)
	Turn      []float32 // (Rows, Dim) dLoss/d(Hat)
	norm      []float32 // (Rows)
}

// Load sets Hat.
func (u *Units) Load(x *array.Array) {
	u.Rows, u.Dim = x.Shape[0], x.Shape[1]
	n := u.Rows * u.Dim
	u.Hat, u.Turn, u.norm = Grow(u.Hat, n), Grow(u.Turn, n), Grow(u.norm, u.Rows)
	kernel.L2Normalize(u.Rows, u.Dim, x.Data, u.Hat, u.norm, unitEps)
	for i, l := range u.norm {
		if l <= unitEps {
			clear(u.Hat[i*u.Dim : (i+1)*u.Dim])
		}
	}
}

// Zero says whether row i counts as 0.
func (u *Units) Zero(i int) bool { return u.norm[i] <= unitEps }

// Pull makes dLoss/dx of Turn.
func (u *Units) Pull(dx *array.Array) {
	kernel.L2NormalizeBackward(u.Rows, u.Dim, u.Hat, u.norm, u.Turn, dx.Data, unitEps)
	for i, l := range u.norm {
		if l <= unitEps {
			clear(dx.Row(i))
		}
	}
}

// OwnCosines are the cosines of the rows of a batch. A loss on them calls Load, writes
// slopes dLoss/d(cos), whose diagonal it leaves 0, and calls Fold and Turns. They are
// float32, with the bits of any order of the rows.
type OwnCosines struct {
	Units
	cos, slope []float32 // (Rows, Rows)
}

// Load sets the cosines, and slopes of 0.
func (c *OwnCosines) Load(z *array.Array) {
	c.Units.Load(z)
	n := c.Rows
	c.cos, c.slope = Grow(c.cos, n*n), Grow(c.slope, n*n)
	kernel.Gram(n, c.Dim, c.Hat, c.Dim, c.cos, n)
	par.Do(n, 16, c)
}

// Run keeps rows [lo, hi) of cosines within their range, and clears their slopes.
func (c *OwnCosines) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		cos, slope := c.Row(i)
		cos[i] = min(cos[i], 1) // the one that rounding most often takes beyond
		Within(cos)
		clear(slope)
	}
}

// Row returns the cosines of row i and their slopes.
func (c *OwnCosines) Row(i int) (cos, slope []float32) {
	return c.cos[i*c.Rows:][:c.Rows], c.slope[i*c.Rows:][:c.Rows]
}

// Fold adds the slopes of both orders of each pair: Row then has the same for both.
func (c *OwnCosines) Fold() { kernel.Fold(c.Rows, c.slope) }

// Turns overwrites grad with scale times dLoss/dz, of folded slopes.
func (c *OwnCosines) Turns(scale float64, grad *array.Array) {
	n := c.Rows
	kernel.Gemm(false, false, n, c.Dim, n, float32(scale), c.slope, n, c.Hat, c.Dim, 0, c.Turn, c.Dim)
	c.Units.Pull(grad)
}

// Within keeps cosines of rounded rows in [-1, 1].
func Within(cos []float32) {
	if kernel.MaxAbs(cos) <= 1 {
		return
	}
	for i, c := range cos {
		if c > 1 || c < -1 {
			cos[i] = min(max(c, -1), 1)
		}
	}
}
