package loss

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// manyRows is the number of rows from which losses on most pairs of a batch take distances or
// cosines, and gradients, by matrix products in float32.
const manyRows = 64

// near is the share of the sum of two squared lengths below which a squared distance is taken
// again from the difference: few of its digits are right in a product.
const near = 1. / 8

// products are the distances and gradients of a Table by matrix products in float32, of rows
// minus their mean: of these the lengths are those of distances, whatever the rows have in
// common.
type products struct {
	rows   array.Array // (rows, D) centered
	mean   []float64
	square []float32 // (rows) squared lengths
	pairs  []float32 // (rows, rows) distances, then weights of the gradient
}

// NewProducts returns a table that takes many rows by products. Its distances have the
// digits of float32.
func NewProducts(d Distance) Table { return Table{distance: d, products: &products{}} }

// multiply is Measure by products; false where float32 does not hold them.
func (t *Table) multiply() bool {
	p, n, dim := t.products, t.rows, t.z.Shape[1]
	p.mean = Grow(p.mean, dim)
	clear(p.mean)
	for i := range n {
		kernel.AddRow(p.mean, t.z.Row(i))
	}
	for k := range p.mean {
		p.mean[k] /= float64(n)
	}
	p.rows.Data, p.rows.Shape = Grow(p.rows.Data, n*dim), append(p.rows.Shape[:0], n, dim)
	p.square, p.pairs = Grow(p.square, n), Grow(p.pairs, n*n)
	for i := range n {
		row := p.rows.Row(i)
		kernel.ShiftRow(t.z.Row(i), p.mean, 1, row)
		p.square[i] = float32(kernel.Dot(row, row))
	}
	kernel.Gram(n, dim, p.rows.Data, dim, p.pairs, n)
	par.Do(n, 4, p.finishing(t))
	_, ok := kernel.AllFinite(p.pairs)
	return ok
}

// finishJob makes distances of products.
type finishJob Table

func (*products) finishing(t *Table) *finishJob { return (*finishJob)(t) }

// Run does rows [lo, hi).
func (f *finishJob) Run(lo, hi int) {
	t := (*Table)(f)
	p, n := t.products, t.rows
	for i := lo; i < hi; i++ {
		row, dist := p.pairs[i*n:][:n], t.Dist[i*n:][:n]
		kernel.DistanceRow(p.square[i], near, p.square, row)
		row[i] = 0
		for j, v := range row {
			d := float64(v)
			if math.Signbit(d) {
				d = math.Sqrt(kernel.SquaredDistance(t.z.Row(i), t.z.Row(j)))
			}
			if t.distance == Squared {
				d *= d
			}
			dist[j] = d
		}
	}
}

// pullProducts is Pull by products: with the weights q of Pull, the gradient of row i is
// sum_j (q_ij + q_ji) (x_i - x_j).
func (t *Table) pullProducts(scale float64, grad *array.Array) {
	p, n := t.products, t.rows
	par.Once(&weighJobs, n, 8, weighJob{t, scale})
	kernel.Fold(n, p.pairs)
	par.Do(n, 8, (*ownWeightJob)(t))
	dim := t.z.Shape[1]
	kernel.Gemm(false, false, n, dim, n, 1, p.pairs, n, p.rows.Data, dim, 0, grad.Data, dim)
}

// weighJob makes negative weights of distances and their slopes.
type weighJob struct {
	t     *Table
	scale float64
}

var weighJobs par.Free[weighJob]

// Run does rows [lo, hi).
func (w *weighJob) Run(lo, hi int) {
	t, scale := w.t, -w.scale
	if t.distance == Squared {
		scale *= 2
	}
	for i := lo; i < hi; i++ {
		dist, coef, out := t.Dist[i*t.rows:][:t.rows], t.Coef[i*t.rows:][:t.rows], t.products.pairs[i*t.rows:][:t.rows]
		for j, c := range coef {
			switch d := dist[j]; {
			case c == 0:
				out[j] = 0
			case t.distance == Squared:
				out[j] = float32(scale * c)
			case d > 0:
				out[j] = float32(scale * c / d)
			default:
				out[j] = 0
			}
		}
	}
}

// ownWeightJob sets the diagonal of folded weights.
type ownWeightJob Table

// Run does rows [lo, hi).
func (t *ownWeightJob) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := t.products.pairs[i*t.rows:][:t.rows]
		row[i] = 0
		row[i] = float32(-kernel.Sum(row))
	}
}
