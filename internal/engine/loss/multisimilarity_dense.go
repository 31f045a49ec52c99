package loss

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// pairTable has the pairs of a batch as a matrix, with their cosines.
type pairTable struct {
	OwnCosines
	kinds []pairKind // (Rows, Rows)
	parts []rowPart  // of each row
}

// pairKind says what a pair of rows is.
type pairKind uint8

const (
	noPair pairKind = iota
	differentPair
	similarPair
	pairKinds
)

// rowPart is what a row adds to the result.
type rowPart struct {
	value float64
	apart [pairKinds]float64 // sums of 1 - s
	count [pairKinds]int
}

// list fills the kinds. It is false where a pair is outside the batch, of a row with itself,
// or there twice.
func (t *pairTable) list(pairs []Pair, rows int) bool {
	t.kinds = Grow(t.kinds, rows*rows)
	clear(t.kinds)
	for _, p := range pairs {
		if p.I == p.J || uint(p.I) >= uint(rows) || uint(p.J) >= uint(rows) {
			return false
		}
		kind := differentPair
		if p.Similar {
			kind = similarPair
		}
		there, back := &t.kinds[int(p.I)*rows+int(p.J)], &t.kinds[int(p.J)*rows+int(p.I)]
		if *there != noPair {
			return false
		}
		*there, *back = kind, kind
	}
	return true
}

// tabled evaluates the pairs of l.t.
func (l *MultiSimilarityLoss) tabled(z, grad *array.Array) (Result, error) {
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return Result{}, fmt.Errorf("loss: %w: row %d of the batch has %v as number %d", ErrNonFinite, i/z.Shape[1], z.Data[i], i%z.Shape[1])
	}
	t, rows := &l.t, z.Shape[0]
	t.Load(z)
	t.parts = Grow(t.parts, rows)
	par.Do(rows, 4, (*tabledRows)(l))
	t.Fold()
	var sum rowPart
	costly := 0
	for i, p := range t.parts {
		sum.value += p.value
		for k := range pairKinds {
			sum.apart[k] += p.apart[k]
			sum.count[k] += p.count[k]
		}
		if p.value > 0 {
			costly++
		}
		cos, slope := t.Row(i)
		for j, s := range slope[:i] {
			if s != 0 && math.Abs(float64(cos[j])) < 1 && !t.Zero(i) && !t.Zero(j) {
				sum.count[noPair]++ // active
			}
		}
	}
	scale := l.o.Reduce.scale(rows, costly)
	res := Result{Loss: sum.value * scale, Tuples: (sum.count[similarPair] + sum.count[differentPair]) / 2, Active: sum.count[noPair]}
	res.Positive = sum.apart[similarPair] / float64(max(sum.count[similarPair], 1))
	res.Negative = sum.apart[differentPair] / float64(max(sum.count[differentPair], 1))
	if grad != nil {
		t.Turns(scale, grad)
	}
	return res, nil
}

// tabledRows evaluates rows of a table.
type tabledRows MultiSimilarityLoss

// Run does rows [lo, hi).
func (r *tabledRows) Run(lo, hi int) {
	l := (*MultiSimilarityLoss)(r)
	for i := lo; i < hi; i++ {
		l.t.parts[i] = l.row(i)
	}
}

// below is an exponent whose exponential is 0.
const below = -200

// row writes the slopes of row i, without the reduction's factor.
func (l *MultiSimilarityLoss) row(i int) (p rowPart) {
	cos, slope := l.t.Row(i)
	kinds := l.t.kinds[i*l.t.Rows:][:len(cos)]
	easiest, hardest := math.Inf(1), math.Inf(-1)
	for j, c := range cos {
		kind, s := kinds[j], float64(c)
		p.count[kind]++
		p.apart[kind] += 1 - s
		switch kind {
		case similarPair:
			easiest = min(easiest, s)
		case differentPair:
			hardest = max(hardest, s)
		}
	}
	p.count[noPair] = 0
	// Mining keeps exponents above a limit: those are -alpha (s - base) and beta (s - base).
	factor := [pairKinds]float64{differentPair: l.o.Beta, similarPair: -l.o.Alpha}
	limit := [pairKinds]float64{noPair: math.Inf(1)}
	limit[differentPair] = l.o.Beta * (easiest - l.o.Epsilon - l.o.Base)
	limit[similarPair] = -l.o.Alpha * (hardest + l.o.Epsilon - l.o.Base)
	var top, sum [pairKinds]float64 // top is at least the exponent of 1
	for j, c := range cos {
		kind := kinds[j]
		if x := float64(factor[kind] * (float64(c) - l.o.Base)); x > limit[kind] {
			top[kind] = max(top[kind], x)
		}
	}
	for j, c := range cos {
		kind := kinds[j]
		slope[j] = below
		if x := float64(factor[kind] * (float64(c) - l.o.Base)); x > limit[kind] {
			slope[j] = float32(x - top[kind])
		}
	}
	kernel.Exp(slope, slope)
	for j, e := range slope {
		sum[kinds[j]] += float64(e)
	}
	var weight [pairKinds]float32
	for _, kind := range [2]pairKind{similarPair, differentPair} {
		one := math.Exp(-top[kind])
		weight[kind] = float32(1 / (one + sum[kind]))
		if top[kind] > 0 {
			p.value += (top[kind] + math.Log(one+sum[kind])) / math.Abs(factor[kind])
		} else {
			p.value += math.Log1p(sum[kind]) / math.Abs(factor[kind])
		}
	}
	weight[similarPair] = -weight[similarPair]
	for j, e := range slope {
		slope[j] = weight[kinds[j]] * e
	}
	return p
}
