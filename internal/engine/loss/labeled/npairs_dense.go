package labeled

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

const (
	// manyPairs is the number of classes from which on inner products are one product of
	// matrices, in float32.
	manyPairs = 32
	// longSquare is the squared length above which float32 has too few digits of a product
	// inside an exponential.
	longSquare = 1024
	// negligible is a slope below which products would have subnormal numbers, which some
	// processors multiply a hundred times slower.
	negligible = 1e-30
)

// pairProducts are the pairs of classes as matrices.
type pairProducts struct {
	anchors, partners []float32 // (classes, D)
	turnA, turnP      []float32 // their gradients
	products          []float32 // (classes, classes) a_i.p_j, then their slopes
	terms             []rowTerm
	mean              float64
}

// multiplied evaluates the chosen pairs by products of matrices. squares has |a_i|^2 + |p_i|^2.
func (l *NPairsLoss) multiplied(z, grad *array.Array, squares []float64) loss.Result {
	m, d, q := len(l.anchors), z.Shape[1], &l.q
	q.anchors, q.partners = loss.Grow(q.anchors, m*d), loss.Grow(q.partners, m*d)
	for i, a := range l.anchors {
		copy(q.anchors[i*d:][:d], z.Row(a))
		copy(q.partners[i*d:][:d], z.Row(l.partner[i]))
	}
	q.products, q.terms, q.mean = loss.Grow(q.products, m*m), loss.Grow(q.terms, m), 1/float64(m)
	kernel.Gemm(false, true, m, m, d, 1, q.anchors, d, q.partners, d, 0, q.products, m)
	par.Do(m, 8, q)
	for i, s := range squares {
		q.terms[i].value += float64(q.mean * l.o.L2 / 4 * s)
	}
	if grad != nil {
		q.turnA, q.turnP = append(q.turnA[:0], q.anchors...), append(q.turnP[:0], q.partners...)
		shrink := float32(q.mean * l.o.L2 / 2)
		kernel.Gemm(false, false, m, d, m, 1, q.products, m, q.partners, d, shrink, q.turnA, d)
		kernel.Gemm(true, false, m, d, m, 1, q.products, m, q.anchors, d, shrink, q.turnP, d)
		clear(grad.Data)
		for i, a := range l.anchors {
			copy(grad.Row(a), q.turnA[i*d:][:d])
			copy(grad.Row(l.partner[i]), q.turnP[i*d:][:d])
		}
	}
	return addTerms(q.terms)
}

// Run turns rows [lo, hi) of the products into their slopes.
func (q *pairProducts) Run(lo, hi int) {
	m := len(q.terms)
	for i := lo; i < hi; i++ {
		q.terms[i] = q.row(q.products[i*m:][:m], i)
	}
}

func (q *pairProducts) row(row []float32, i int) (t rowTerm) {
	own, all := row[i], kernel.Sum(row)
	t.tuples, t.positives, t.others = 1, 1, len(row)-1
	t.positive, t.negative = -float64(own), float64(own)-all
	top := float32(math.Inf(-1))
	for j, s := range row {
		if j != i {
			top = max(top, s)
		}
	}
	for j := range row {
		row[j] -= top
	}
	row[i] = vanishing
	kernel.Exp(row, row)
	row[i] = 0
	sum := kernel.Sum(row)
	x := float64(top) - float64(own) + math.Log(sum)
	weight := loss.Logistic(x)
	share := float32(q.mean * weight / sum)
	for j, e := range row {
		if e *= share; e < negligible {
			e = 0
		}
		row[j] = e
	}
	if own := float32(q.mean * weight); own >= negligible {
		row[i] = -own
	}
	v := loss.Softplus(x)
	if v > 0 {
		t.active = 1
	}
	t.value = q.mean * v
	return t
}
