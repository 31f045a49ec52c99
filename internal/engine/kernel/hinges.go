package kernel

import (
	"fmt"
	"math"
)

//go:generate go run -C _generate ./vector -family hinges -out ../hinges_amd64.s -go ../hinges_stubs.go -pkg kernel

// DistanceRow turns the inner products of a point with n others into distances,
// given the squared lengths x2 and y2 (n):
//
//	row[j] = sqrt(max(x2 + y2[j] - 2*row[j], 0))
//
// with the sign bit set where the squared distance is below near*(x2 + y2[j]):
// few of its digits are right there. It reports whether there is such a pair.
// The arithmetic is float32, each operation rounded, the same on all levels, on
// the calling goroutine.
func DistanceRow(x2, near float32, y2, row []float32) bool {
	y2 = y2[:len(row)]
	if l := Current(); assembly && l != Generic && len(row) > 0 {
		return rootsAsm(l, x2, near, len(row), &y2[0], &row[0]) > 0
	}
	return rootsGeneric(x2, near, y2, row) > 0
}

func rootsGeneric(x2, near float32, y2, row []float32) (most float32) {
	y2 = y2[:len(row)]
	for j, c := range row {
		sum := x2 + y2[j]
		limit := float32(near * sum)
		s := max(sum-(c+c), 0)
		v := float32(math.Sqrt(float64(s)))
		if limit > s {
			most = max(most, limit-s)
			v = -v
		}
		row[j] = v
	}
	return most
}

// hingeBlock is the number of elements that the assembly takes at a time.
const hingeBlock = 64

// Hinges is a step function of a distance d: Base plus each Add[r] where d is
// below Cut[r]. A sum of hinges of d has such a function as its slope.
type Hinges struct {
	Base     float32
	Cut, Add []float32
	Count    []int32 // of distances below each cut
	// Sums holds, after Row, the sums of the values times d and of the weights, each
	// in 16 interleaved ones.
	Sums [2][exactLanes]float64
}

// Row sets w[j] to the value for d[j] divided by d[j], or to 0 where d[j] is not
// above 0, and fills in Count and Sums. w may be d. Values are added up in float32
// in the order of the cuts, sums in float64; the bits are the same on all levels.
func (h *Hinges) Row(d, w []float32) {
	m := len(h.Cut)
	if len(h.Add) != m || len(h.Count) != m || len(w) != len(d) {
		panic(fmt.Sprintf("kernel: hinges of %d, %d and %d cuts for %d and %d distances", m, len(h.Add), len(h.Count), len(d), len(w)))
	}
	clear(h.Count)
	h.Sums = [2][exactLanes]float64{}
	n := len(d) &^ (hingeBlock - 1)
	if l := Current(); assembly && l != Generic && n > 0 {
		var cut, add *float32
		var count *int32
		if m > 0 {
			cut, add, count = &h.Cut[0], &h.Add[0], &h.Count[0]
		}
		hingesAsm(l, h.Base, m, cut, add, count, n, &d[0], &w[0], &h.Sums[0][0])
	} else {
		n = 0
	}
	hingesGeneric(h, d[n:], w[n:])
}

// Total returns the sum of the values times d, and that of the weights.
func (h *Hinges) Total() (values, weights float64) {
	sums := h.Sums
	return addLanes(&sums[0]), addLanes(&sums[1])
}

// AddWeighted adds the rows of x (n, len(y)), times their weights w (n), to y, in
// order. Rows of weight 0 are not read. Products are rounded, and the work is done
// on the calling goroutine.
func AddWeighted(w, x, y []float32) {
	level, d := Current(), len(y)
	if len(x) != len(w)*d {
		panic(fmt.Sprintf("kernel: %d weights for rows of %d in %d numbers", len(w), d, len(x)))
	}
	for j, v := range w {
		if v != 0 {
			level.axpy(v, x[j*d:(j+1)*d], y)
		}
	}
}

func hingesGeneric(h *Hinges, d, w []float32) {
	w = w[:len(d)]
	for j, v := range d {
		f := h.Base
		for r, cut := range h.Cut {
			if v < cut {
				f += h.Add[r]
				h.Count[r]++
			}
		}
		var q float32
		if v > 0 {
			q = f / v
		}
		w[j] = q
		h.Sums[0][j%exactLanes] += float64(float64(v) * float64(f)) // the product is exact
		h.Sums[1][j%exactLanes] += float64(q)
	}
}
