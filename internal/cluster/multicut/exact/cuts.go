package exact

import (
	"cmp"
	"math"
	"slices"
)

// cutRow is a valid inequality val x[col] >= rhs with integers.
type cutRow struct {
	col      []int32
	val      []float64
	rhs      float64
	efficacy float64 // violation over the norm of val
}

const (
	cutDenominator = 24   // largest of a multiplier
	cutLeast       = 1e-3 // efficacy
	cutMost        = 60   // cuts a round
	cutParallel    = 0.9  // cosine of two cuts that are too alike
	cutWide        = 0.25 // of the variables: a cut with more is dropped
	cutWhole       = 1e-5 // a variable this near an integer is one
)

// cuts returns Chvatal-Gomory cuts that the program's solution violates. Valid rows
// with multipliers t/D, t in 0..D-1, are added up and rounded: with x in {0, 1} and
// integers k,
//
//	sum of a_j x_j >= b  gives  sum of ceil(a_j/D) x_j >= ceil(b/D),
//
// a variable near 1 being replaced by its complement first. Multipliers are taken from
// the tableau rows of fractional variables, where small denominators suffice: sums are
// of integers, and a cut is valid whatever the rounding errors of the tableau.
func (c *core) cuts() []cutRow {
	l := c.lp
	k := &l.Kernel
	var found []cutRow
	sum := make([]int64, len(l.X))
	for p, j := range k.Basic {
		if v := l.X[j]; v < cutWhole || v > 1-cutWhole {
			continue
		}
		if l.Stopped() {
			break
		}
		rho := k.Row(p)
		d, ok := cutMultiplier(rho)
		if !ok {
			continue
		}
		var best cutRow
		for t := int64(1); t < d; t++ {
			if cut, ok := c.combine(rho, d, t, sum); ok && cut.efficacy > best.efficacy {
				best = cut
			}
		}
		if best.col != nil {
			found = append(found, best)
		}
	}
	return selectCuts(found)
}

// cutMultiplier returns the least common denominator of these numbers, where there is
// a small one.
func cutMultiplier(rho []float64) (int64, bool) {
	d := int64(1)
	for _, r := range rho {
		for {
			if v := float64(r * float64(d)); math.Abs(v-math.Round(v)) < 1e-6 {
				break
			}
			// The least multiple of d that makes it an integer.
			m := d
			for {
				if m += d; m > cutDenominator {
					return 0, false
				}
				if v := float64(r * float64(m)); math.Abs(v-math.Round(v)) < 1e-6 {
					break
				}
			}
			d = m
		}
	}
	return d, d > 1
}

// combine adds the tight rows up with multipliers (t rho mod 1) and rounds. sum is
// scratch, zero before and after.
func (c *core) combine(rho []float64, d, t int64, sum []int64) (cutRow, bool) {
	l := c.lp
	var rhs int64
	var touched []int32
	for place, i := range l.Kernel.Tight {
		m := t * int64(math.Round(rho[place]*float64(d))) % d
		if m < 0 {
			m += d
		}
		if m == 0 {
			continue
		}
		rhs += m * int64(l.RHS[i])
		col, val := l.Entries(i)
		for e, j := range col {
			if sum[j] == 0 {
				touched = append(touched, j)
			}
			sum[j] += m * int64(val[e])
		}
	}
	cut := cutRow{}
	activity, norm := 0.0, 0.0
	for _, j := range touched {
		s := sum[j]
		sum[j] = 0
		v := s / d
		if r := s % d; r != 0 {
			if l.X[j] > 0.5 { // r x_j <= r is taken off
				rhs -= r
			} else {
				v++
			}
		}
		if v > 0 {
			cut.col = append(cut.col, j)
			cut.val = append(cut.val, float64(v))
			activity += float64(float64(v) * l.X[j])
			norm += float64(float64(v) * float64(v))
		}
	}
	whole := rhs / d
	if rhs%d > 0 {
		whole++
	}
	cut.rhs = float64(whole)
	if len(cut.col) == 0 || whole <= 0 || float64(len(cut.col)) > 50+float64(cutWide*float64(len(l.X))) {
		return cutRow{}, false
	}
	cut.efficacy = (cut.rhs - activity) / math.Sqrt(norm)
	return cut, cut.efficacy > cutLeast
}

// selectCuts keeps the most effective cuts that differ.
func selectCuts(found []cutRow) []cutRow {
	slices.SortStableFunc(found, func(a, b cutRow) int {
		return cmp.Or(cmp.Compare(b.efficacy, a.efficacy), cmp.Compare(len(a.col), len(b.col)))
	})
	var kept []cutRow
	for _, cut := range found {
		alike := slices.ContainsFunc(kept, func(other cutRow) bool { return cutCosine(cut, other) > cutParallel })
		if !alike {
			kept = append(kept, cut)
		}
		if len(kept) == cutMost {
			break
		}
	}
	return kept
}

// cutCosine returns the cosine of two cuts' values.
func cutCosine(a, b cutRow) float64 {
	at := make(map[int32]float64, len(a.col))
	aa, bb, ab := 0.0, 0.0, 0.0
	for e, j := range a.col {
		at[j] = a.val[e]
		aa += float64(a.val[e] * a.val[e])
	}
	for e, j := range b.col {
		ab += float64(b.val[e] * at[j])
		bb += float64(b.val[e] * b.val[e])
	}
	return ab / math.Sqrt(aa*bb)
}
