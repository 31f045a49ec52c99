package stat

import (
	"cmp"
	"math"
	"slices"
)

// Kendall returns tau-b of two lists of one length (Kendall, Biometrika 1945): the pairs in
// the same order less those in the opposite one, over the geometric mean of the pairs that
// are not equal in either list. ok is false where all of a list are equal, or a value is not
// a number.
func Kendall(x, y []float64) (tau float64, ok bool) {
	sum, untiedX, untiedY := 0, 0, 0
	for i := range x {
		for j := range i {
			a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
			sum, untiedX, untiedY = sum+a*b, untiedX+a*a, untiedY+b*b
		}
	}
	if untiedX == 0 || untiedY == 0 || hasNaN(x) || hasNaN(y) {
		return 0, false
	}
	return float64(sum) / math.Sqrt(float64(untiedX)*float64(untiedY)), true
}

// Spearman returns the correlation of the ranks of two lists of one length; equal values
// share their mean rank. ok is as of Kendall.
func Spearman(x, y []float64) (rho float64, ok bool) {
	if hasNaN(x) || hasNaN(y) {
		return 0, false
	}
	a, b := ranks(x), ranks(y)
	var ab, aa, bb float64
	mean := float64(float64(len(x)-1) / 2)
	for i := range a {
		ab += float64((a[i] - mean) * (b[i] - mean))
		aa += float64((a[i] - mean) * (a[i] - mean))
		bb += float64((b[i] - mean) * (b[i] - mean))
	}
	if aa == 0 || bb == 0 {
		return 0, false
	}
	return ab / math.Sqrt(aa*bb), true
}

// ranks count from 0.
func ranks(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		for j, w := range x {
			switch {
			case w < v:
				out[i]++
			case w == v && i != j:
				out[i] += 0.5
			}
		}
	}
	return out
}

func hasNaN(x []float64) bool { return slices.ContainsFunc(x, math.IsNaN) }
