package theory

import (
	"math"

	"tercet/internal/record/printed"
)

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
func InconsistentCycles(classes int, p float64) []printed.Cycles {
	k := float64(classes - 1)
	var out []printed.Cycles
	exact := p * (1 - p) / (2 * k)
	for m := 2; m <= min(classes, 4); m++ {
		if m > 2 {
			exact *= p * float64(classes-m+1) / k
		}
		out = append(out, printed.Cycles{Length: m, Indices: 1, Printed: exact * float64(m) * math.Pow(2, float64(1-m)), Exact: exact})
	}
	return append(out, printed.Cycles{
		Length: 4, Indices: 2, Printed: p * math.Pow(1-p, 3) / (8 * k),
		Exact: 2 * p * (1 - p) * (float64((1-p)*(1-p)) + float64(p*p)) / k,
	})
}
