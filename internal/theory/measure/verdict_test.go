package measure

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/verdict"
)

// few is a pool of so many positives and negatives of the clouds.
func few(t *testing.T, n record.Sizes) *Pool {
	t.Helper()
	ref, _ := clouds{}.Reference()
	p, err := NewPool(ref.Positive[:3*n.Pos], ref.Negative[:3*n.Neg], 3, 1, record.Sizes{Pos: 4, Neg: 8}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func said(d *record.MetricStability, part string) string {
	var out []string
	for _, c := range d.Checks {
		if strings.Contains(c.Says, part) {
			holds := "open"
			if c.Holds != nil {
				holds = fmt.Sprint(*c.Holds)
			}
			out = append(out, holds)
		}
	}
	return strings.Join(out, " ")
}

// The printed bound of Lemma 4 falls with n-: that 32 negatives do not cross it says
// nothing where 125 and more were left out.
func TestClaimIsOpenWithoutItsLargestSizes(t *testing.T) {
	d := testClaim(t, "T4", Study{Source: few(t, record.Sizes{Pos: 20, Neg: 60}), Repeats: 2, Triplets: 50, Most: record.Sizes{Pos: 10, Neg: 40}})
	verdictIs(t, d, verdict.Inconclusive)
	if got := said(d, "printed"); got != "open open" {
		t.Errorf("printed: %s", got)
	}
	if got := said(d, "corrected"); got != "true true" {
		t.Errorf("corrected: %s", got)
	}
	if s := d.Series[0]; len(s.Points) != 2 || len(s.LeftOut) != 4 {
		t.Errorf("%d points, left out %v", len(s.Points), s.LeftOut)
	}
	// As it does not fail where sizes are left out, it fails where none is.
	x := &record.MetricStability{}
	atLargest(x, "s", "f", new(false), nil)
	atLargest(x, "s", "f", new(true), []record.Sizes{{Pos: 1, Neg: 1}})
	if *x.Checks[0].Holds || !*x.Checks[1].Holds {
		t.Errorf("%+v", x.Checks)
	}
}

// Claims need fresh points besides the samples: T2 as many again.
func TestSizesLeaveRoomForFreshPoints(t *testing.T) {
	d := testClaim(t, "T2", Study{Source: few(t, record.Sizes{Pos: 90, Neg: 90}), Repeats: 1, Triplets: 20, Most: record.Sizes{Pos: 60, Neg: 60}})
	verdictIs(t, d, verdict.Inconclusive) // 50 + 50 more are above the 86 that are left
	if d.Series != nil || len(d.Notes) != 2 || !strings.Contains(d.Notes[0]+d.Notes[1], "evaluation and replacements") {
		t.Errorf("%+v", d)
	}
}

func estimate(low, high float64) record.Estimate {
	return record.Estimate{Value: (low + high) / 2, CI95: &[2]float64{low, high}, N: 9, Max: 10 * high}
}

// A mean crosses a bound by its whole interval, and keeps it by its whole interval.
func TestMeansAreDecidedByWholeIntervals(t *testing.T) {
	for _, c := range []struct {
		e                  record.Estimate
		crossed, undecided bool
	}{
		{estimate(2.1, 3), true, false}, {estimate(1, 1.9), false, false}, {estimate(1, 3), false, true},
		{estimate(1, 2), false, false}, {estimate(2, 3), false, true},
		{record.Estimate{Value: 9, N: 1, Max: 9}, false, true},
	} {
		b := markedMean([]record.MetricBound{{Value: 2}}, c.e, 1)[0]
		if b.Crossed != c.crossed || b.Undecided != c.undecided || !*b.Vacuous {
			t.Errorf("%s against 2: %+v", words(c.e), b)
		}
	}
}

func TestUndecidedBoundsLeaveAClaimOpen(t *testing.T) {
	bound := func(crossed, undecided bool) record.MetricPoint {
		return record.MetricPoint{Bounds: []record.MetricBound{{Form: "corrected", Constants: "tight", Value: 1, Crossed: crossed, Undecided: undecided}}}
	}
	for want, points := range map[string][]record.MetricPoint{
		"true":  {bound(false, false), bound(false, false)},
		"open":  {bound(false, false), bound(false, true)},
		"false": {bound(true, false), bound(false, true)},
	} {
		x := &tester{doc: &record.MetricStability{}}
		x.within(record.MetricSeries{Points: points}, "s")
		if got := said(x.doc, "s"); got != want {
			t.Errorf("%s, want %s: %+v", got, want, x.doc.Checks)
		}
	}
}

// One repeat has no interval: rates, means and signs are open, S1's witness is not.
func TestOneRepeatDecidesNoMean(t *testing.T) {
	for id, study := range map[string]Study{
		"T3": {Repeats: 1, Most: record.Sizes{Pos: 40, Neg: 40}, Triplets: 50},
		"T6": {Repeats: 1, Most: record.Sizes{Pos: 40, Neg: 40}, Held: record.Sizes{Pos: 20, Neg: 20}},
		"T7": {Repeats: 1, Most: record.Sizes{Pos: 20, Neg: 20}, Held: record.Sizes{Pos: 20, Neg: 20}},
		"S2": {Repeats: 1, Most: record.Sizes{Pos: 125, Neg: 125}, Source: Circle{}},
	} {
		verdictIs(t, testClaim(t, id, study), verdict.Inconclusive)
	}
}

// A slope without an interval is open wherever it lies, and so is one outside where sizes
// were left out.
func TestSlopesWithoutAnAnswer(t *testing.T) {
	at := &[2]float64{-1.1, -.9}
	for name, s := range map[string]record.MetricSeries{
		"no interval": {Expected: at, Rate: &record.Rate{Slope: -1}, RateNote: "no interval"},
		"left out":    {Expected: at, Rate: &record.Rate{Slope: 0, CI95: &[2]float64{-.1, .1}}, LeftOut: []record.Sizes{{Pos: 9, Neg: 9}}},
	} {
		if yes, found := AsExpected(s); yes != nil || !strings.Contains(found, name) {
			t.Errorf("%s: %v %s", name, yes, found)
		}
	}
}

func TestNoChecksAreInconclusive(t *testing.T) {
	if d := setVerdict((&record.MetricStability{})); d.Verdict != verdict.Inconclusive {
		t.Error(d.Verdict)
	}
	// T = n^2 uses every sample; that none of no sample changed anything is no check.
	d := testClaim(t, "T2", Study{Repeats: 1, Most: record.Sizes{Pos: 50, Neg: 50}, Triplets: 20})
	for _, c := range d.Checks {
		if strings.Contains(c.Found, "of 0") {
			t.Errorf("%s: %s", c.Says, c.Found)
		}
	}
}

// T5 tells of T, by which alone its settings differ.
func TestProgressNamesTheSetting(t *testing.T) {
	seen := map[string]bool{}
	x := &tester{Study: Study{Source: clouds{}, Repeats: 1, Triplets: 10, Done: func(what string, _ record.Sizes, _ record.Estimate) { seen[what] = true }}, doc: &record.MetricStability{}}
	x.loss = lossOf(t, "logistic", .1)
	if err := stabilityOverSteps(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 5 || !seen["SGD, n = 50, T = 200"] {
		t.Errorf("%v", seen)
	}
}
