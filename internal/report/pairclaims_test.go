package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/render"
	"tercet/internal/verdict"
)

// claimRuns are hand-made runs: widths 2 to 16, three seeds whose test errors differ by
// off at every width, so that differences of curves are the same for all seeds unless a
// curve adds to them.
func claimRuns(t *testing.T) []*RunDir {
	t.Helper()
	folder := t.TempDir()
	var runs []*RunDir
	curves := []struct {
		scenario, noise string
		effective       float64
		test            [5]float64 // at widths 2, 4, 8, 16, 32
		spread          float64    // of the seeds beside off
	}{
		{"s2", "none", 0, [5]float64{0.20, 0.18, 0.22, 0.10, 0.08}, 0},
		{"s2", "pln", 0.1, [5]float64{0.30, 0.28, 0.33, 0.34, 0.20}, 0.01},
		{"s2", "sln", 0.1, [5]float64{0.33, 0.31, 0.37, 0.30, 0.12}, 0},
		{"s2", "pln", 0.2, [5]float64{0.40, 0.42, 0.43, 0.44, 0.30}, 0.01},
		{"s1", "none", 0, [5]float64{0.20, 0.18, 0.22, 0.10, 0.08}, 0},
		{"s1", "pln", 0.1, [5]float64{0.30, 0.29, 0.31, 0.25, 0.15}, 0.001},
		{"s1", "sln", 0.1, [5]float64{0.29, 0.28, 0.30, 0.25, 0.15}, 0},
		{"s1", "sln", 0.2, [5]float64{0.45, 0.40, 0.30, 0.18, 0.10}, 0},
	}
	for _, c := range curves {
		for seed := range 3 {
			sign := float64(seed - 1)
			for i, width := range []int{2, 4, 8, 16, 32} {
				f := fakePairs{scenario: c.scenario, noise: c.noise, effective: c.effective, classes: 10, width: width, seed: seed}
				f.test = c.test[i] + 0.002*sign + c.spread*sign
				f.train, f.floor = 0.25-0.05*float64(i), 0.0
				if i == 4 {
					f.train = 0.0005
				}
				if c.noise == "pln" && c.scenario == "s2" {
					f.floor = 0.005 + 0.001*sign
					f.train += f.floor
				}
				if c.noise == "none" && c.scenario == "s1" {
					f.train = 0.01
				}
				runs = append(runs, f.make(t, folder))
			}
		}
	}
	return runs
}

// quantity finds the one that begins so.
func quantity(t *testing.T, s *PairStudy, claim, of, what string) PairClaim {
	t.Helper()
	for _, c := range s.Claims {
		if c.Claim == claim && c.Of == of && strings.HasPrefix(c.What, what) {
			return c
		}
	}
	t.Fatalf("no %s %q %q", claim, of, what)
	return PairClaim{}
}

func claims(t *testing.T, runs []*RunDir, curves bool) *PairStudy {
	t.Helper()
	s := pairStudy(t, runs, curves)
	s.JudgeClaims()
	return s
}

func TestClaimsOverWidths(t *testing.T) {
	s := claims(t, claimRuns(t), false)
	// Student's 95 % half interval of three seeds that are 0.01 apart.
	const apart = 0.1 * halfOfTenth
	for _, want := range []struct {
		claim, of, what string
		value, half     float64
		rule, verdict   string
	}{
		{"C1", "s2, PLN 10 %", "rise to the peak at width 16", 0.06, 0, "interval above 0", verdict.Supported},
		{"C1", "s2, PLN 10 %", "fall from the peak at width 16", 0.14, 0, "interval above 0", verdict.Supported},
		{"C1", "s1, SLN 20 %", "fall from the peak at width 2", 0.35, 0, "interval above 0", verdict.Supported},
		// Peaks: clean 0.22 at width 8, PLN 0.34 at 16 and 0.33 at 8.
		{"C2", "s2, PLN 10 %", "peak's test error, less", 0.12, apart, "interval above 0", verdict.Supported},
		{"C2", "s2, PLN 10 %", "the same, both at the clean curve's peak", 0.11, apart, "", ""},
		{"C2", "s2, SLN 10 %", "peak's test error, less", 0.15, 0, "interval above 0", verdict.Supported},
		{"C3", "s2, PLN 10 %", "training error less floor_duplicates at width 32", 0.0005, 0, "interval below 0.1 %", verdict.Supported},
		{"C3", "s2, SLN 10 %", "training error at width 32", 0.0005, 0, "interval below 0.1 %", verdict.Supported},
		{"C3", "s1, no noise", "training error at width 32", 0.01, 0, "interval below 0.1 %", verdict.Contradicted},
		{"C4", "s1, PLN - SLN, 10 %", "test error at width 32", 0, apart / 10, "interval within 2 % of 0 %", verdict.Supported},
		{"C4", "s2, PLN - SLN, 10 %", "test error at width 32", 0.08, apart, "interval above 0", verdict.Supported},
		// SLN - PLN at widths 4, 8, 16: 0.03, 0.04, -0.04 in S2; -0.01, -0.01, 0 in S1.
		{"C5", "s2, SLN - PLN, 10 %", "test error, mean over widths 4 to 16 (3)", 0.01, apart, "interval above 0", verdict.Inconclusive},
		{"C5", "s1, SLN - PLN, 10 %", "test error, mean over widths 4 to 16 (3)", -0.02 / 3, apart / 10, "", ""},
		// 0.1, 0.14, 0.1, 0.1, 0.1.
		{"C6", "s2, PLN 20 % - 10 %", "test error, mean over 5 widths", 0.108, 0, "", ""},
	} {
		c := quantity(t, s, want.claim, want.of, want.what)
		meanIs(t, want.claim+" "+want.of+" "+want.what, c.Estimate, want.value, want.half, 3)
		if c.Rule != want.rule || c.Verdict != want.verdict {
			t.Errorf("%s %s %s: %q %q", want.claim, want.of, want.what, c.Rule, c.Verdict)
		}
	}
	for _, want := range []struct {
		claim, of, what string
		value           float64
		rule, verdict   string
	}{
		{"C4", "s2, PLN - SLN, 10 %", "difference of each seed's own peaks", 1, "interval above 0", verdict.Supported},
		{"C4", "s1, PLN - SLN, 10 %", "difference of each seed's own peaks", 0, "", ""},
		{"C6", "s2, PLN 20 % - 10 %", "difference of each seed's own peaks", 0, "interval within 1 of 0", verdict.Supported},
		{"C6", "s1, SLN 20 % - 10 %", "difference of each seed's own peaks", -2, "interval within 1 of 0", verdict.Contradicted},
		{"C6", "s1, SLN 20 % - 10 %", "test error, lowest interval of all widths, at width 16", -0.07, "interval above 0", verdict.Contradicted},
		{"C6", "s2, PLN 20 % - 10 %", "test error, lowest interval of all widths, at width", 0.1, "interval above 0", verdict.Supported},
		// The curve that only falls has its largest mean at an end: 0.45, then 0.40.
		{"C1", "s1, SLN 20 %", "rise from the narrowest, which has the largest mean", -0.05, "interval above 0", verdict.Contradicted},
	} {
		c := quantity(t, s, want.claim, want.of, want.what)
		if !closeTo(*c.Value, want.value) || c.CI95 == nil || c.Rule != want.rule || c.Verdict != want.verdict {
			t.Errorf("%s %s %s: %v %q %q", want.claim, want.of, want.what, *c.Value, c.Rule, c.Verdict)
		}
	}
	for claim, want := range map[string]string{"C1": verdict.Contradicted, "C2": verdict.Supported, "C3": verdict.Contradicted, "C4": verdict.Supported, "C5": verdict.Inconclusive, "C6": verdict.Contradicted} {
		if c := quantity(t, s, claim, "", "all "); c.Verdict != want {
			t.Errorf("%s in all: %s %s, want %s", claim, c.What, c.Verdict, want)
		}
	}
	if c := quantity(t, s, "C1", "", "all "); c.What != "all 16: 15 supported, 1 contradicted, 0 inconclusive" {
		t.Error(c.What)
	}
	if !strings.Contains(strings.Join(s.Notes, "\n"), "no runs for C7, C8, C9") {
		t.Errorf("notes %q", s.Notes)
	}
}

// One seed has no interval, and nothing is judged by it.
func TestClaimsOfOneSeed(t *testing.T) {
	var runs []*RunDir
	for _, r := range claimRuns(t) {
		if r.Manifest.Seed == 1 {
			runs = append(runs, r)
		}
	}
	for _, c := range claims(t, runs, false).Claims {
		if c.Verdict != "" && c.Verdict != verdict.Inconclusive {
			t.Errorf("%s %s %s: %s", c.Claim, c.Of, c.What, c.Verdict)
		}
	}
	if s := claims(t, nil, true); len(s.Claims) != 0 || s.ClaimsTable(false).Write(io.Discard, "text") != nil {
		t.Error("claims of no runs")
	}
}

// Training errors are 0.002 + 0.9 (1 + seed/10) times the bound, by hand.
func TestClaimsOfFloors(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	bound := func(p float64, k int) float64 { return p * (1 - p) / (2 * float64(k-1)) }
	for seed := range 3 {
		for _, at := range []struct {
			p       float64
			classes int
		}{{0.1, 2}, {0.1, 3}, {0.1, 5}, {0.1, 10}, {0.2, 10}, {0.3, 10}} {
			b := bound(at.p, at.classes)
			f := fakePairs{scenario: "s2", noise: "pln", effective: at.p, classes: at.classes, width: 128, seed: seed, test: -1,
				lower: 0.001 + b, upper: 0.1, train: 0.002 + 0.9*(1+float64(seed)/10)*b}
			if f.floor = f.train - 0.0005; at.classes == 3 {
				f.floor = f.train - 0.002
			}
			runs = append(runs, f.make(t, folder))
			f.negatives, f.upper, f.floor, f.train = "random", 0, 0, 0.0001
			if at.classes == 2 {
				f.train = 0.009 // of 0.002 + 0.99 x 0.045 = 0.04655: below a fifth, but not by the interval
			}
			if at.classes == 5 {
				f.train = 0.005 // above a fifth of 0.0131
			}
			runs = append(runs, f.make(t, folder))
		}
	}
	s := claims(t, runs, false)
	for _, what := range []string{"slope over 4 classes", "slope over 3 rates"} {
		of := "s2, PLN 10 %"
		if strings.HasSuffix(what, "rates") {
			of = "s2, PLN"
		}
		c := quantity(t, s, "C7", of, what) // 0.9, 0.99, 1.08
		meanIs(t, what, c.Estimate, 0.99, 0.9*halfOfTenth, 3)
		if c.Verdict != verdict.Inconclusive || c.shown() == c.shown().InPercent() { // [0.87, 1.11] is not within 0.1 of 1
			t.Errorf("%s: %s", what, c.Verdict)
		}
		what = strings.Replace(what, "slope", "intercept", 1)
		c = quantity(t, s, "C7", of, what)
		meanIs(t, what, c.Estimate, 0.002, 0, 3)
		if c.Verdict != verdict.Contradicted || c.shown() != c.shown().InPercent() {
			t.Errorf("%s: %s", what, c.Verdict)
		}
	}
	above := map[string]string{}
	random := map[string]string{}
	for _, c := range s.Claims {
		if strings.HasPrefix(c.What, "training error less floor") && c.Claim == "C7" {
			above[c.Classes] += c.Verdict
		}
		if strings.HasSuffix(c.What, "random negatives") && strings.HasSuffix(c.Of, "10 %") {
			random[c.Classes] += c.Verdict
		}
	}
	if got := fmt.Sprint(above); got != "map[10:supported 2:supported 3:contradicted 5:supported]" {
		t.Errorf("above their floors: %s", got)
	}
	if got := fmt.Sprint(random); got != "map[10:supported 2:inconclusive 3:supported 5:contradicted]" {
		t.Errorf("random negatives: %s", got)
	}
	meanIs(t, "same-index", quantity(t, s, "C9", "s2, PLN 30 %", "training error, same-index").Estimate, 0.002+0.99*bound(0.3, 10), 0.09*10*halfOfTenth*bound(0.3, 10), 3)
	// A slope that all seeds have is no spread, and not 1.
	for i := range runs {
		if v := runs[i].Manifest.Seed; v != 0 {
			runs[i] = nil
		}
	}
	var one []*RunDir
	for _, r := range runs {
		if r != nil {
			one = append(one, r)
		}
	}
	if c := quantity(t, claims(t, one, false), "C7", "s2, PLN", "slope"); c.Verdict != verdict.Inconclusive || !closeTo(*c.Value, 0.9) {
		t.Errorf("one seed: %v %s", *c.Value, c.Verdict)
	}
}

func TestClaimsOfOrder(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 2 {
		f := fakePairs{scenario: "s2", noise: "sln", effective: 0.1, classes: 10, width: 8, seed: seed, test: -1, train: 0.1}
		runs = append(runs, f.make(t, folder))
		f.order, f.found = "paper", 0.03+0.002*float64(seed)
		runs = append(runs, f.make(t, folder))
	}
	s := claims(t, runs, false)
	c := quantity(t, s, "C9", "s2, SLN 10 %", "found P, lists sorted by class, 300 images of each")
	// 372 of 12,000; 0.0305 +- 0.001 at 300 images by an independent simulation.
	if !closeTo(*c.Value, 0.031) || !c.Binomial || c.N != 2 || c.Rule != "interval below the target of 10 %" || c.Verdict != verdict.Supported || math.Abs(c.CI95[0]-0.0280) > 1e-4 || math.Abs(c.CI95[1]-0.0343) > 1e-4 {
		t.Errorf("%v %v %s", *c.Value, c.CI95, c.Verdict)
	}
	// The upper end is more than a tenth above what draws give.
	if i := slices.IndexFunc(s.Claims, func(c PairClaim) bool { return strings.HasPrefix(c.Rule, "interval within a tenth of the 3.") }); i < 0 || s.Claims[i].Verdict != verdict.Inconclusive {
		t.Errorf("what draws give: %d", i)
	}
	if c = quantity(t, s, "C9", "s2, SLN 10 %", "found P, lists shuffled"); !closeTo(*c.Value, 0.1) || c.Verdict != "" {
		t.Errorf("shuffled: %v", *c.Value)
	}
	if c := quantity(t, claims(t, runs[:2], false), "C3", "s2, SLN 10 %", "training error at width 8"); c.Verdict != verdict.Inconclusive {
		t.Errorf("one seed: %s", c.Verdict)
	}
}

func TestClaimsOfStreams(t *testing.T) {
	folder := t.TempDir()
	var runs []*RunDir
	for seed := range 3 {
		off := 0.01 * float64(seed-1)
		for _, f := range []struct {
			scenario, noise string
			effective, test float64
			online          bool
			spread          float64
		}{
			{"s1", "none", 0, 0.1, true, 0}, {"s1", "pln", 0.1, 0.2, true, 0}, {"s1", "sln", 0.1, 0.25, true, 0},
			{"s1", "none", 0, 0.105, false, 0}, {"s2", "none", 0, 0.15, false, 0},
			{"s1", "pln", 0.1, 0.3, false, 1}, {"s2", "pln", 0.1, 0.2, false, 1}, {"s2", "sln", 0.1, 0.2, false, 0},
		} {
			g := fakePairs{scenario: f.scenario, noise: f.noise, effective: f.effective, classes: 10, width: 200, seed: seed, test: f.test, train: 0.5}
			if f.online {
				g.labels = []Label{{"batch.redraw", "true"}}
			}
			g.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, f.test+off+f.spread*off, 0.5)}
			runs = append(runs, g.make(t, folder))
		}
	}
	// Another study's offline run of that width is set against no online one, and its
	// curve over widths has its training error asked for.
	for seed := range 3 {
		for _, width := range []int{100, 200} {
			f := fakePairs{scenario: "s1", noise: "none", classes: 10, width: width, seed: seed, test: 0.4, train: 0.5, labels: []Label{{"optimizer.lr", "0.5"}}}
			f.events = []string{evaluated(10, 1, 0.5, 0.5), evaluated(20, 2, 0.4, 0.5)}
			runs = append(runs, f.make(t, folder))
		}
	}
	s := claims(t, runs, true)
	const apart = 0.1 * halfOfTenth
	for _, want := range []struct {
		of, what    string
		value, half float64
		verdict     string
	}{
		{"s1, no noise", "test error offline - online at step 20", 0.005, 0, verdict.Supported},
		{"s2, no noise", "test error offline - online at step 20", 0.05, 0, verdict.Contradicted},
		{"s1, PLN 10 %", "test error offline - online at step 20", 0.1, apart, verdict.Supported},
		{"s2, PLN 10 %", "test error offline - online at step 20", 0, apart, verdict.Inconclusive},
		{"s2, SLN 10 %", "test error offline - online at step 20", -0.05, 0, verdict.Contradicted},
		{"s1, PLN - SLN, 10 %", "test error, both online, at step 20", -0.05, 0, ""},
	} {
		c := quantity(t, s, "C8", want.of, want.what)
		meanIs(t, want.of+" "+want.what, c.Estimate, want.value, want.half, 3)
		if c.Verdict != want.verdict {
			t.Errorf("%s: %s", want.of, c.Verdict)
		}
	}
	for _, c := range s.Claims {
		if c.Claim == "C8" && strings.Contains(c.Other, "0.5") {
			t.Errorf("%+v is of no online run", c)
		}
		if c.Claim == "C3" && c.Of != "" && c.Other != "optimizer.lr 0.5" {
			t.Errorf("runs of so many steps are asked for a floor: %s", c.Of)
		}
	}
	if c := quantity(t, s, "C3", "s1, no noise", "training error at width 200"); c.Other != "optimizer.lr 0.5" || c.Verdict != verdict.Contradicted {
		t.Errorf("%+v", c)
	}
}

func TestClaimsTable(t *testing.T) {
	s := claims(t, claimRuns(t), false)
	var b strings.Builder
	if err := s.ClaimsTable(false).Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12.00 [9.52, 14.48]", "0.00 [-0.25, 0.25]", "all rows: data mnist, model mlp\n", "(of the means: width 16, width 8)  │ 3 │    1.00 [1.00, 1.00] │ interval above 0", "test error, mean over 5 widths (%) "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, format := range render.Formats() {
		b.Reset()
		if err := s.ClaimsTable(true).Write(&b, format); err != nil || !strings.Contains(b.String(), "supported") {
			t.Errorf("%s: %v\n%s", format, err, b.String())
		}
	}
}
