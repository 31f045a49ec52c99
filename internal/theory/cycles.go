package theory

import "math"

// Cycles compares E_diff with what it counts: cycles of pairs of which exactly one is
// labeled different, so that no relation that is transitive can satisfy all of them.
// Numbers are expected ones per pair.
type Cycles struct {
	Length int `json:"length"` // images in the cycle
	// Indices is 1 for cycles of different pairs of one index, 2 for those of two
	// different pairs of neighboring indices, joined by two similar pairs.
	Indices int     `json:"indices"`
	Printed float64 `json:"printed"` // the term of E_diff
	Exact   float64 `json:"exact"`   // for three images of each class or more
}

// InconsistentCycles returns the first terms of E_diff beside the true numbers (D13).
//
// Of m >= 3 images of one index, of m classes, each is in one different pair of its own
// making, so that a cycle goes all one way round or all the other: its expected number
// is 2/(n_c-1)^m, and
//
//	exact = (n_c-2)!/(n_c-m)! P^(m-1) (1-P) / (2 (n_c-1)^(m-1)),
//
// where E_diff has m/2^m for the 1/2. For m = 2, one way round, the two agree. Of
// neighboring indices k, k+1 and two classes, each couple of a different pair at k and
// one at k+1 closes a cycle with two chain pairs:
//
//	exact = (2P(1-P)^3 + 2P^3(1-P)) / (n_c-1),
//
// where E_diff has, as its term m = 2, i = 1, P(1-P)^3 / (8(n_c-1)): sixteen times less.
//
// The numbers must be those that DIBS accepts.
func InconsistentCycles(classes int, p float64) []Cycles {
	k := float64(classes - 1)
	var out []Cycles
	exact := p * (1 - p) / (2 * k)
	for m := 2; m <= min(classes, 4); m++ {
		if m > 2 {
			exact *= p * float64(classes-m+1) / k
		}
		out = append(out, Cycles{m, 1, exact * float64(m) * math.Pow(2, float64(1-m)), exact})
	}
	return append(out, Cycles{
		4, 2, p * math.Pow(1-p, 3) / (8 * k),
		2 * p * (1 - p) * (float64((1-p)*(1-p)) + float64(p*p)) / k,
	})
}
