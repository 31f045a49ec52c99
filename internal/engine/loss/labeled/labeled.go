// Package labeled has the losses that compare the rows of a batch by their classes, with or
// without a parameter for each class. They register themselves in loss.Family.
package labeled

import (
	"fmt"

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

// Variant says whether a loss is computed as its paper prints it or as published code does.
type Variant = loss.Variant

const (
	Paper     = loss.Paper
	Published = loss.Published
)

// vanishing is an exponent whose exponential is 0 in float32.
const vanishing = -200

// crossCosines are the cosines of rows a with rows b, such as embeddings with proxies. A loss
// on them calls load, replaces each row by its slopes, and calls pull.
type crossCosines struct {
	a, b  loss.Units
	cells []float32 // (a, b) cosines, then their slopes
}

func (c *crossCosines) load(a, b *array.Array) {
	c.a.Load(a)
	c.b.Load(b)
	n, m, d := c.a.Rows, c.b.Rows, c.a.Dim
	c.cells = loss.Grow(c.cells, n*m)
	kernel.Gemm(false, true, n, m, d, 1, c.a.Hat, d, c.b.Hat, d, 0, c.cells, m)
}

// row returns the cosines of row i of a, to be replaced by their slopes.
func (c *crossCosines) row(i int) []float32 {
	row := c.cells[i*c.b.Rows:][:c.b.Rows]
	loss.Within(row)
	return row
}

// turns makes slope gradients of the directions.
func (c *crossCosines) turns() {
	n, m, d := c.a.Rows, c.b.Rows, c.a.Dim
	kernel.Gemm(false, false, n, d, m, 1, c.cells, m, c.b.Hat, d, 0, c.a.Turn, d)
	kernel.Gemm(true, false, m, d, n, 1, c.cells, m, c.a.Hat, d, 0, c.b.Turn, d)
}

// pull overwrites the gradients of a and b.
func (c *crossCosines) pull(da, db *array.Array) {
	c.turns()
	c.a.Pull(da)
	c.b.Pull(db)
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
