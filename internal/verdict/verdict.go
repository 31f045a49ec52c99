// Package verdict decides by one rule whether an interval supports or contradicts a claim.
//
// A claim is a range of values: a difference is above 0, an error below 0.1 %, a slope
// between -1.15 and -0.85, two errors equal to within a margin that was set beforehand. It
// is supported if the whole interval lies in the range, contradicted if the whole
// interval lies outside, and otherwise inconclusive. An interval that merely contains a
// value does not support a claim, and a mean without an interval is inconclusive.
package verdict

import (
	"fmt"
	"math"
)

// The verdicts on a claim.
const (
	Supported    = "supported"
	Contradicted = "contradicted"
	Inconclusive = "inconclusive"
)

// EnoughSeeds is the number of seeds from which a verdict on a method may follow. Two seeds
// can agree by chance to the last digit, and one does not show how far seeds differ;
// Student's interval then has no width, or is one over queries of the same weights.
const EnoughSeeds = 3

// TooFewSeeds is the note on differences of fewer seeds.
const TooFewSeeds = "differences of fewer than three seeds are inconclusive"

// Claim is the range in which a value is said to lie. The zero Claim is that of 0 alone.
type Claim struct {
	low, high float64
	open      bool // the finite end does not belong to it
	outside   bool // the claim is of all other values
}

// Above claims a value larger than v.
func Above(v float64) Claim { return Claim{low: v, high: math.Inf(1), open: true} }

// Below claims a value smaller than v.
func Below(v float64) Claim { return Claim{low: math.Inf(-1), high: v, open: true} }

// AtLeast claims a value of v or more.
func AtLeast(v float64) Claim { return Claim{low: v, high: math.Inf(1)} }

// AtMost claims a value of v or less.
func AtMost(v float64) Claim { return Claim{low: math.Inf(-1), high: v} }

// Between claims a value from low to high.
func Between(low, high float64) Claim { return Claim{low: low, high: high} }

// Within claims that a value is v to within a margin, which must be set before the value
// is measured.
func Within(v, margin float64) Claim { return Between(v-margin, v+margin) }

// Beyond claims a value that differs from v by more than a margin, which must be set before
// the value is measured.
func Beyond(v, margin float64) Claim { return Claim{low: v - margin, high: v + margin, outside: true} }

// rounding is what is left of a difference of equals, which is not above 0.
const rounding = 1e-12

// Of is the verdict that an interval gives; nil, for one that is not known, gives none.
func (c Claim) Of(interval *[2]float64) string {
	if interval == nil || math.IsNaN(interval[0]) || math.IsNaN(interval[1]) {
		return Inconclusive
	}
	low, high := interval[0], interval[1]
	if c.outside {
		return map[string]string{Supported: Contradicted, Contradicted: Supported, Inconclusive: Inconclusive}[Between(c.low, c.high).Of(interval)]
	}
	switch {
	case c.open && low > c.low+rounding && high < c.high-rounding, !c.open && low >= c.low && high <= c.high:
		return Supported
	case high < c.low || low > c.high:
		return Contradicted
	}
	return Inconclusive
}

// All is the verdict on a claim of several parts: contradicted where one is, supported
// where there are parts and each is, inconclusive else.
func All(parts ...string) string {
	out := Inconclusive
	for i, p := range parts {
		switch {
		case p == Contradicted:
			return Contradicted
		case p == Supported && (i == 0 || out == Supported):
			out = Supported
		default:
			out = Inconclusive
		}
	}
	return out
}

// OfAnswer is the verdict of a yes or no; nil is none.
func OfAnswer(yes *bool) string {
	switch {
	case yes == nil:
		return Inconclusive
	case *yes:
		return Supported
	}
	return Contradicted
}

// Answer is the yes or no of a verdict; nil where it is inconclusive.
func Answer(v string) *bool {
	if v != Supported && v != Contradicted {
		return nil
	}
	yes := v == Supported
	return &yes
}

// Comparisons says how many intervals were compared with a claim, and what that means
// where none is corrected for their number.
func Comparisons(n int) string {
	if n == 1 {
		return "1 comparison by a 95 % interval"
	}
	return fmt.Sprintf("%d comparisons by 95 %% intervals, with no correction for their number: without any effect about %.2g of them would be decided by chance", n, 0.05*float64(n))
}
