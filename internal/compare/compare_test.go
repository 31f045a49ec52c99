package compare

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rundir"
)

// waves are 200 differences with a small mean.
func waves() []float64 {
	d := make([]float64, 200)
	for i := range d {
		d[i] = 0.5*math.Sin(float64(i)) + 0.06
	}
	return d
}

// side is one of results with these values of recall@1, by seed from 0, each of queries.
func side(name string, queries ...[]float64) Side {
	s := Side{Name: name}
	for i, q := range queries {
		seed, sum := uint64(i), 0.0
		items, values := make([]float32, len(q)), make([]float32, len(q))
		for j, v := range q {
			items[j], values[j] = float32(j), float32(v)
			sum += v
		}
		s.Results = append(s.Results, &Result{
			From: name, Seed: &seed, items: items, values: map[string][]float32{"recall@1": values},
			Scores:  record.Scores{{Key: "recall@1", Value: record.Value{Value: sum / float64(len(q)), Definition: "x"}}},
			Setting: func(string) []rundir.Label { return []rundir.Label{{Key: "images", Value: "4"}} },
		})
	}
	return s
}

func options() Options {
	return Options{Resamples: 10_000, Flips: 10_000, Lower: func(string) bool { return false }}
}

func one(t *testing.T, a, b Side, o Options) (printed.PairedDifference, []string) {
	t.Helper()
	doc := Sides([]Side{a, b}, []string{"recall@1"}, o)
	if len(doc.Differences) != 1 {
		t.Fatalf("%d differences", len(doc.Differences))
	}
	return doc.Differences[0], doc.Notes
}

// What a result lacks is said: it is left out of that score.
func TestResultsWithoutAScore(t *testing.T) {
	t.Parallel()
	a, b := side("a", []float64{1, 0}, []float64{1, 1}), side("b", []float64{0, 0}, []float64{1, 0})
	b.Results[1].Scores = nil
	d, notes := one(t, a, b, options())
	if d.Pairs != 1 || len(notes) != 1 || notes[0] != "b has no recall@1" {
		t.Errorf("%+v, %q", d, notes)
	}
	b.Results = b.Results[1:]
	if d, notes := one(t, a, b, options()); d.Pairs != 0 || len(notes) < 1 || notes[0] != "b has no recall@1" {
		t.Errorf("%+v, %q", d, notes)
	}
}

func TestPairsBySeed(t *testing.T) {
	t.Parallel()
	a := side("a", []float64{1, 0, 0, 0}, []float64{1, 1, 0, 0}, []float64{0, 0, 0, 0})
	b := side("b", []float64{1, 1, 0, 0}, []float64{1, 1, 1, 0}, []float64{1, 1, 0, 1})
	d, _ := one(t, a, b, options())
	// by hand: differences 0.25, 0.25, 0.75; mean 5/12, s 0.288675, t(2) 4.302653; by SciPy the power is 0.68 with 5 seeds and 0.80 with 6
	if d.Pairs != 3 || math.Abs(*d.Mean-5.0/12) > 1e-7 || d.Seeds == nil || math.Abs(d.Seeds.CI95[0]-(5.0/12-4.302653*0.288675/math.Sqrt(3))) > 1e-5 {
		t.Errorf("%+v %+v", d, d.Seeds)
	}
	if d.Seeds.P != 0.25 || d.Seeds.Needed != 6 || d.Verdict != Inconclusive {
		t.Errorf("%+v %s", d.Seeds, d.Verdict)
	}
	// queries: means over seeds of the differences 1/3, 2/3, 1/3, 1/3
	if d.Queries == nil || d.Queries.N != 4 || d.Queries.P != 0.125 {
		t.Errorf("%+v", d.Queries)
	}
	b.Results = b.Results[1:]
	d, notes := one(t, a, b, options())
	if d.Pairs != 2 || *d.Mean != 0.5 || *d.Values[0] != 0.25 || len(notes) != 1 || !strings.Contains(notes[0], "1 of 5 results have no partner") {
		t.Errorf("%+v %q", d, notes)
	}
}

// Two single results are paired whatever their seeds, and decided by queries alone.
func TestPairsSingleResults(t *testing.T) {
	t.Parallel()
	zeros := make([]float64, 200)
	a, b := side("a", zeros), side("b", waves())
	seed := uint64(7)
	b.Results[0].Seed = &seed
	d, notes := one(t, a, b, options())
	if d.Seeds != nil || d.Queries == nil || d.Verdict != Better && d.Verdict != Inconclusive || len(notes) != 1 || !strings.Contains(notes[0], "seeds 0 and 7") {
		t.Errorf("%+v %q", d, notes)
	}
	q := *d.Queries
	// SciPy 1.10: permutation_test with 200,000 resamples; NumPy: percentiles of 100,000 resamples
	if math.Abs(q.P-0.0135) > 0.005 || math.Abs(q.CI95[0]-0.01308) > 0.004 || math.Abs(q.CI95[1]-0.11100) > 0.004 {
		t.Errorf("%+v", q)
	}
	again, _ := one(t, a, b, options())
	if *again.Queries != q {
		t.Errorf("another time %+v", *again.Queries)
	}
	b.Results[0].items[3] = 100
	if d, _ := one(t, a, b, options()); d.Queries != nil || d.Verdict != Inconclusive {
		t.Errorf("other queries: %+v %s", d.Queries, d.Verdict)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	low, high := side("low", []float64{0, 0, 0, 0}, []float64{0, 0, 0, 1}), side("high", []float64{1, 1, 1, 0.9}, []float64{1, 1, 1, 1.9})
	if d, _ := one(t, low, high, options()); d.Verdict != Inconclusive || d.Seeds.CI95 != nil || d.Seeds.Needed != 0 {
		t.Errorf("equal differences say nothing about their spread: %+v", d)
	}
	high = side("high", []float64{1, 1, 1, 0.9}, []float64{1, 1, 1, 1.8})
	if d, _ := one(t, low, high, options()); d.Verdict != Inconclusive || d.Seeds.CI95[0] < 0.5 || d.Seeds.Needed != 3 {
		t.Errorf("two seeds: %+v", d)
	}
	low = side("low", []float64{0, 0, 0, 0}, []float64{0, 0, 0, 1}, []float64{0, 0, 0, 2})
	high = side("high", []float64{1, 1, 1, 0.9}, []float64{1, 1, 1, 1.8}, []float64{1, 1, 1, 2.8})
	if d, _ := one(t, low, high, options()); d.Verdict != Better {
		t.Errorf("%+v", d)
	}
	if d, _ := one(t, high, low, options()); d.Verdict != Worse {
		t.Errorf("%+v", d)
	}
	o := options()
	o.Lower = func(string) bool { return true }
	if d, _ := one(t, low, high, o); d.Verdict != Worse {
		t.Errorf("%+v", d)
	}
	if d, _ := one(t, low, low, options()); d.Verdict != Inconclusive || d.Seeds.P != 1 || d.Seeds.Needed != 0 || *d.Mean != 0 {
		t.Errorf("with itself: %+v %+v", d, d.Seeds)
	}
}

func TestUnlikeHasNoDifference(t *testing.T) {
	t.Parallel()
	a, b := side("a", []float64{1, 0}), side("b", []float64{1, 1})
	b.Results[0].Setting = func(string) []rundir.Label { return []rundir.Label{{Key: "images", Value: "5"}} }
	if d, _ := one(t, a, b, options()); d.Mean != nil || d.Unlike != "images 4 (a), 5 (b)" || d.Verdict != Inconclusive {
		t.Errorf("%+v", d)
	}
	b.Results[0].Scores = nil
	if d, _ := one(t, a, b, options()); d.Mean != nil || d.Pairs != 0 {
		t.Errorf("%+v", d)
	}
}

// The p values are those of SciPy's permutation_test(permutation_type="samples"), exact.
func TestExactFlips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d      []float64
		wanted float64
	}{
		{[]float64{1, 2, 3}, 0.25}, {[]float64{0.5, -0.2, 0.7, 0.1, 0.3}, 0.1875},
		{[]float64{1, -1, 1, 1, -1, 1, 0, 0, 1, 1}, 0.2890625}, {[]float64{0.3, 0.3, 0.3, -0.3}, 0.625},
		{[]float64{0, 0}, 1},
	} {
		if got := flipTest(c.d, 100, 0); got != c.wanted {
			t.Errorf("%v: %v, want %v", c.d, got, c.wanted)
		}
	}
}

// Random flips come near the exact share.
func TestRandomFlips(t *testing.T) {
	t.Parallel()
	d := waves()[:exactUpTo]
	exact := flipTest(d, 1, 0)
	many := flipTest(append(d, 1e-9), 20_000, 3) // one more than is enumerated, which changes nothing
	if math.Abs(many-exact) > 4*math.Sqrt(exact*(1-exact)/20_000) {
		t.Errorf("random %v, exact %v", many, exact)
	}
}
