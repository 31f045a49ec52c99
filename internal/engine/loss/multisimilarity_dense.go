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
	whole bool       // there is no row of zeros
	spare par.Free[[]int32]
}

// leave returns the rows that are not different from row i, itself too, in spare.
func (t *pairTable) leave(i int, spare *[]int32) []int32 {
	*spare = (*spare)[:0]
	for j, kind := range t.kinds[i*t.Rows:][:t.Rows] {
		if kind != differentPair {
			*spare = append(*spare, int32(j))
		}
	}
	return *spare
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
	t.whole = true // no cosine of two rows is constant
	for i := range rows {
		t.whole = t.whole && !t.Zero(i)
	}
	par.Do(rows, 8, (*activePairs)(t))
	var sum rowPart
	costly := 0
	for _, p := range t.parts {
		sum.value += p.value
		for k := range pairKinds {
			sum.apart[k] += p.apart[k]
			sum.count[k] += p.count[k]
		}
		if p.value > 0 {
			costly++
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

// activePairs counts those of rows with earlier rows whose slope is not 0, and whose cosine
// changes with them.
type activePairs pairTable

// Run does rows [lo, hi).
func (t *activePairs) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		cos, slope := t.Row(i)
		cos, slope, active := cos[:i], slope[:i], 0
		if t.whole && kernel.MaxAbs(cos) < 1 {
			for _, s := range slope {
				x := math.Float32bits(s) << 1
				active += int((x | -x) >> 31) // without a branch, which would be random
			}
		} else {
			for j, s := range slope {
				if s != 0 && math.Abs(float64(cos[j])) < 1 && !t.Zero(i) && !t.Zero(j) {
					active++
				}
			}
		}
		t.parts[i].count[noPair] = active
	}
}

// row writes the slopes of row i, without the reduction's factor. Most pairs are of
// different images: those are taken by vectors, the others one by one.
func (l *MultiSimilarityLoss) row(i int) (p rowPart) {
	cos, slope := l.t.Row(i)
	spare := l.t.spare.Get()
	defer l.t.spare.Put(spare)
	left := l.t.leave(i, spare)
	copy(slope, cos)
	all, easiest := kernel.Sum(cos), math.Inf(1)
	for _, j := range left {
		s := float64(cos[j])
		all -= s
		slope[j] = -2 // below all others
		if l.t.kinds[i*l.t.Rows+int(j)] == similarPair {
			p.count[similarPair]++
			p.apart[similarPair] += 1 - s
			if !l.drops(s) {
				easiest = min(easiest, s)
			}
		}
	}
	p.count[differentPair] = len(cos) - len(left)
	p.apart[differentPair] = float64(p.count[differentPair]) - all
	if math.IsInf(easiest, 1) || p.count[differentPair] == 0 {
		clear(slope)
		return p
	}
	hardest := kernel.Greatest(slope)
	p.value = l.push(easiest-l.o.Epsilon, float64(hardest), left, cos, slope)
	p.value += l.pull(i, float64(hardest)+l.o.Epsilon, easiest, left, cos, slope)
	return p
}

// push is the term of the different rows of cosine above limit; those of left are no such
// rows. The slopes hold the cosines before.
func (l *MultiSimilarityLoss) push(limit, hardest float64, left []int32, cos, slope []float32) float64 {
	beta, base := l.o.Beta, l.o.Base
	if hardest <= limit {
		clear(slope)
		return 0
	}
	top := max(0, beta*(hardest-base)) // or the exponent of 1
	kernel.ScaleRow(float32(beta), slope)
	kernel.ExpLess(float32(top+float64(beta*base)), slope)
	floor := float32(limit)
	if float64(floor) > limit {
		floor = math.Nextafter32(floor, -2)
	}
	for j, e := range slope {
		kept := uint32(int32(math.Float32bits(floor-cos[j])) >> 31) // all ones above the floor
		slope[j] = math.Float32frombits(math.Float32bits(e) & kept)
	}
	for _, j := range left {
		slope[j] = 0
	}
	one, sum := math.Exp(-top), kernel.Sum(slope)
	kernel.ScaleRow(float32(1/(one+sum)), slope)
	return logOf(top, one, sum) / beta
}

// pull is the term of the similar rows of cosine below limit.
func (l *MultiSimilarityLoss) pull(i int, limit, easiest float64, left []int32, cos, slope []float32) float64 {
	alpha, base := l.o.Alpha, l.o.Base
	if easiest >= limit {
		return 0
	}
	kinds := l.t.kinds[i*l.t.Rows:][:len(cos)]
	kept := func(j int32) bool {
		return kinds[j] == similarPair && float64(cos[j]) < limit && !l.drops(float64(cos[j]))
	}
	top := max(0, -alpha*(easiest-base))
	one, sum := math.Exp(-top), 0.0
	for _, j := range left {
		if kept(j) {
			sum += math.Exp(float64(-alpha*(float64(cos[j])-base)) - top)
		}
	}
	for _, j := range left {
		if kept(j) {
			slope[j] = float32(-math.Exp(float64(-alpha*(float64(cos[j])-base))-top) / (one + sum))
		}
	}
	return logOf(top, one, sum) / alpha
}

// logOf is log(1 + sum of exponentials), given these and 1 times exp(-top).
func logOf(top, one, sum float64) float64 {
	if top > 0 {
		return top + math.Log(one+sum)
	}
	return math.Log1p(sum)
}
