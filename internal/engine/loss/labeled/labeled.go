// Package labeled has the losses that compare the rows of a batch by their classes, with or
// without a parameter for each class. They register themselves in loss.Family.
package labeled

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// checkLabeled checks what an objective on labels is given, and returns the number of
// rows. It is 0 where there are no labels; the gradient is then zero. Labels are less
// than classes, unless that is 0.
func checkLabeled(z *array.Array, labels []int32, grad *array.Array, classes int) (rows int, err error) {
	if err := loss.CheckShapes(z, grad); err != nil {
		return 0, err
	}
	rows = z.Shape[0]
	if len(labels) == 0 {
		if grad != nil {
			clear(grad.Data)
		}
		return 0, nil
	}
	if len(labels) != rows {
		return 0, fmt.Errorf("loss: %d labels for a batch of %d embeddings", len(labels), rows)
	}
	if classes > 0 {
		if err := loss.CheckClasses(labels, classes); err != nil {
			return 0, err
		}
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return 0, fmt.Errorf("loss: %w: row %d of the batch has %v as number %d", loss.ErrNonFinite, i/z.Shape[1], z.Data[i], i%z.Shape[1])
	}
	return rows, nil
}

// Variant says whether a loss is computed as its paper prints it, or as the code that
// the authors published does.
type Variant string

const (
	Paper     Variant = "paper"
	Published Variant = "published"
)

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// logistic is 1 / (1 + exp(-x)), the derivative of softplus.
func logistic(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// unitEps is the length below which a row counts as 0: its cosines and its gradient are 0.
const unitEps = 1e-12

// units are rows, such as embeddings or proxies, and the rows of length 1 in their
// directions. Scratch grows to the largest batch seen and is then reused.
type units struct {
	rows, dim int
	hat       []float32 // (rows, dim)
	norm      []float32 // (rows)
	turn      []float32 // (rows, dim) dLoss/d(hat)
}

// load sets hat.
func (u *units) load(x *array.Array) {
	u.rows, u.dim = x.Shape[0], x.Shape[1]
	n := u.rows * u.dim
	u.hat, u.turn, u.norm = loss.Grow(u.hat, n), loss.Grow(u.turn, n), loss.Grow(u.norm, u.rows)
	kernel.L2Normalize(u.rows, u.dim, x.Data, u.hat, u.norm, unitEps)
	for i, l := range u.norm {
		if l <= unitEps {
			clear(u.hat[i*u.dim : (i+1)*u.dim])
		}
	}
}

// pull makes dLoss/dx of turn.
func (u *units) pull(dx *array.Array) {
	kernel.L2NormalizeBackward(u.rows, u.dim, u.hat, u.norm, u.turn, dx.Data, unitEps)
	for i, l := range u.norm {
		if l <= unitEps {
			clear(dx.Row(i))
		}
	}
}

// ownCosines are the cosines of the rows of a batch. A loss on them calls load, writes
// slope = dLoss/d(cos), whose diagonal it leaves 0, and calls pull. They are float32, with
// the bits of any order of the rows.
type ownCosines struct {
	units
	cos, slope []float32 // (rows, rows)
}

func (c *ownCosines) load(z *array.Array) {
	c.units.load(z)
	n := c.rows
	c.cos, c.slope = loss.Grow(c.cos, n*n), loss.Grow(c.slope, n*n)
	kernel.Gram(n, c.dim, c.hat, c.dim, c.cos, n)
	within(c.cos)
	clear(c.slope)
}

// row returns the cosines of row i and their slopes.
func (c *ownCosines) row(i int) (cos, slope []float32) {
	return c.cos[i*c.rows:][:c.rows], c.slope[i*c.rows:][:c.rows]
}

// pull overwrites grad with dLoss/dz.
func (c *ownCosines) pull(grad *array.Array) {
	n := c.rows
	for i := range n {
		for j := range i {
			both := c.slope[i*n+j] + c.slope[j*n+i]
			c.slope[i*n+j], c.slope[j*n+i] = both, both
		}
	}
	kernel.Gemm(false, false, n, c.dim, n, 1, c.slope, n, c.hat, c.dim, 0, c.turn, c.dim)
	c.units.pull(grad)
}

// crossCosines are the cosines of rows a with rows b, such as embeddings with proxies.
type crossCosines struct {
	a, b       units
	cos, slope []float32 // (a, b)
}

func (c *crossCosines) load(a, b *array.Array) {
	c.a.load(a)
	c.b.load(b)
	n, m, d := c.a.rows, c.b.rows, c.a.dim
	c.cos, c.slope = loss.Grow(c.cos, n*m), loss.Grow(c.slope, n*m)
	kernel.Gemm(false, true, n, m, d, 1, c.a.hat, d, c.b.hat, d, 0, c.cos, m)
	within(c.cos)
	clear(c.slope)
}

// row returns the cosines of row i of a and their slopes.
func (c *crossCosines) row(i int) (cos, slope []float32) {
	return c.cos[i*c.b.rows:][:c.b.rows], c.slope[i*c.b.rows:][:c.b.rows]
}

// turns makes slope gradients of the directions.
func (c *crossCosines) turns() {
	n, m, d := c.a.rows, c.b.rows, c.a.dim
	kernel.Gemm(false, false, n, d, m, 1, c.slope, m, c.b.hat, d, 0, c.a.turn, d)
	kernel.Gemm(true, false, m, d, n, 1, c.slope, m, c.a.hat, d, 0, c.b.turn, d)
}

// pull overwrites the gradients of a and b.
func (c *crossCosines) pull(da, db *array.Array) {
	c.turns()
	c.a.pull(da)
	c.b.pull(db)
}

// within keeps cosines of rounded rows in [-1, 1].
func within(cos []float32) {
	for i, c := range cos {
		cos[i] = min(max(c, -1), 1)
	}
}

// rowTerm is what a row of cosines leaves for the result.
type rowTerm struct {
	value              float64
	tuples, active     int
	positive, negative float64 // sums of 1 - cos
	positives, others  int     // of these many
}

// addTerms sums the terms of rows in their order.
func addTerms(terms []rowTerm) (res loss.Result) {
	var positives, others int
	for _, t := range terms {
		res.Loss += t.value
		res.Tuples += t.tuples
		res.Active += t.active
		res.Positive += t.positive
		res.Negative += t.negative
		positives += t.positives
		others += t.others
	}
	res.Positive /= float64(max(positives, 1))
	res.Negative /= float64(max(others, 1))
	return res
}

// apart adds 1 - cos of a positive, or of another row.
func (t *rowTerm) apart(positive bool, cos float32) {
	if positive {
		t.positives++
		t.positive += 1 - float64(cos)
		return
	}
	t.others++
	t.negative += 1 - float64(cos)
}

// newRows returns a parameter of rows whose numbers are drawn from a normal law.
func newRows(name string, rows, dim int, spread float64, r *rng.Stream) (*nn.Param, error) {
	p, err := loss.NewParam(name, true, rows, dim)
	if err != nil {
		return nil, err
	}
	for i := range p.Value.Data {
		p.Value.Data[i] = float32(spread * r.NormFloat64())
	}
	return p, nil
}

// tooLarge is the error of a loss whose gradient float32 cannot hold.
func tooLarge(row int) error {
	return fmt.Errorf("loss: %w: the loss or its gradient is too large for float32, at row %d of the batch: the lengths of embeddings differ too much", loss.ErrNonFinite, row)
}
