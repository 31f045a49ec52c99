package measure

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/testutil"
	"tercet/internal/theory/stability"
	"tercet/internal/verdict"
)

func testClaim(t *testing.T, id string, s Study) *record.MetricStability {
	t.Helper()
	c, err := ClaimOf(id)
	if err != nil {
		t.Fatal(err)
	}
	if s.Source == nil {
		s.Source = clouds{}
	}
	s.Zeta, s.Delta, s.Seed = .1, .01, 1
	d, err := c.Test(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again record.MetricStability
	if err := json.Unmarshal(b, &again); err != nil || again.Schema != "tercet.metricstability/1" || again.Claim != c.ID || again.Verdict != d.Verdict {
		t.Errorf("%s read again: %v %s %s", id, err, again.Schema, again.Verdict)
	}
	return d
}

func verdictIs(t *testing.T, d *record.MetricStability, want string) {
	t.Helper()
	if d.Verdict != want {
		t.Errorf("%s: %s, want %s", d.Claim, d.Verdict, want)
		for _, c := range d.Checks {
			if c.Holds == nil || !*c.Holds {
				t.Logf("%s: %s", c.Says, c.Found)
			}
		}
	}
}

func TestClaimsHoldOnClouds(t *testing.T) {
	held := record.Sizes{Pos: 60, Neg: 60}
	for _, c := range []struct {
		id     string
		study  Study
		checks int
	}{
		{"T1", Study{Repeats: 3, Most: record.Sizes{Pos: 20, Neg: 20}, Held: held}, 2},
		{"T2", Study{Repeats: 1, Most: record.Sizes{Pos: 50, Neg: 50}, Triplets: 50}, 7},
		{"T3", Study{Repeats: 8, Most: record.Sizes{Pos: 40, Neg: 40}, Triplets: 500}, 4},
		{"s1", Study{Repeats: 1, Triplets: 100}, 4},
		{"t7", Study{Repeats: 4, Most: record.Sizes{Pos: 50, Neg: 50}, Held: held}, 3},
	} {
		d := testClaim(t, c.id, c.study)
		verdictIs(t, d, verdict.Supported)
		if len(d.Checks) != c.checks {
			t.Errorf("%s: %d checks, want %d", c.id, len(d.Checks), c.checks)
		}
	}
}

// S4: the reference saw errors of .037 with the learning sign, .964 with the printed one
// and .295 for Euclidean distances, 40 + 40 points, zeta = 0.01; here n = 50, zeta = 0.1.
func TestSignsAsTheReference(t *testing.T) {
	d := testClaim(t, "S4", Study{Repeats: 3, Most: record.Sizes{Pos: 50, Neg: 50}, Held: record.Sizes{Pos: 60, Neg: 60}})
	for i, want := range []struct {
		name        string
		value, slop float64
	}{{"logistic-printed", .964, .03}, {"logistic", .037, .03}, {"Euclidean", .295, .05}} {
		s := d.Series[i]
		if s.Name != want.name {
			t.Fatalf("series %d is %s", i, s.Name)
		}
		testutil.Near(t, s.Name, s.Points[1].Measured.Value, want.value, want.slop)
	}
}

// The reference's circle at n = 1000: n sigma gap .244, the printed Lemma 6 .113, the
// corrected 3.57 of it; both bounds follow n^-3/2 and n^-1 exactly for fixed moves.
func TestLemma6OnTheCircle(t *testing.T) {
	d := testClaim(t, "S2", Study{Source: Circle{}, Repeats: 40, Most: record.Sizes{Pos: 125, Neg: 125}})
	p := d.Series[0].Points[0]
	scale := 125.0 * 1000
	testutil.Near(t, "n sigma gap", scale*p.Measured.Value, .244, 3*scale**p.Measured.SE)
	if e := scale * *p.Measured.SE; e > .06 {
		t.Errorf("standard error %g", e)
	}
	for _, b := range p.Bounds {
		if b.Source != "Lemma 6" || b.Constants != stability.Tight {
			continue
		}
		want := 3.57
		if b.Form == stability.Paper {
			want = .113 * 2.83 // sqrt(1000 / 125)
		}
		testutil.Near(t, b.Form, scale*b.Value, want, .15*want)
	}
}

// A document of an older version: the slope lies where it is expected, its interval does
// not.
func TestRenewOldDocument(t *testing.T) {
	yes := true
	s := record.MetricSeries{Name: "s", Expected: &[2]float64{.35, .65}, Rate: &record.Rate{Slope: .361, CI95: &[2]float64{.330, .394}}}
	d := &record.MetricStability{Claim: "T5", Verdict: "holds", Series: []record.MetricSeries{s}, Checks: []record.MetricCheck{{Says: "s: slope between 0.35 and 0.65", Found: "0.361", Holds: &yes}, {Says: "else", Holds: &yes}}}
	Renew(d)
	if d.Checks[0].Holds != nil || d.Checks[0].Found != "0.361 [0.330, 0.394]" || d.Verdict != verdict.Inconclusive {
		t.Errorf("%+v %s", d.Checks[0], d.Verdict)
	}
	d = &record.MetricStability{Claim: "T1", Verdict: "holds", Checks: []record.MetricCheck{{Says: "else", Holds: &yes}}}
	if Renew(d); d.Verdict != verdict.Supported {
		t.Errorf("old word: %s", d.Verdict)
	}
	d = &record.MetricStability{}
	if Renew(d); d.Verdict != "" {
		t.Errorf("a measurement without a claim: %q", d.Verdict)
	}
}

func TestClaimErrors(t *testing.T) {
	if _, err := ClaimOf("T99"); err == nil || !strings.Contains(err.Error(), "T1, T2") {
		t.Error(err)
	}
	if _, err := ClaimOf(""); err == nil {
		t.Error("a claim without a name")
	}
	pool, err := NewPool(numbered(60, 0), numbered(60, -.5), 1, 1, record.Sizes{Pos: 10, Neg: 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ClaimOf("T3")
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Test(done, Study{Source: pool, Repeats: 1, Triplets: 10}); err == nil || !strings.Contains(err.Error(), "claim T3: n+ = 20, n- = 20") {
		t.Errorf("an error without its setting: %v", err)
	}
	d, err := c.Test(context.Background(), Study{Source: pool, Repeats: 1, Triplets: 10, Most: record.Sizes{Pos: 10, Neg: 10}})
	if err != nil || d.Verdict != verdict.Inconclusive || len(d.Notes) != 1 || d.Series != nil {
		t.Errorf("no sizes: %v %+v", err, d)
	}
}

// A slope is supported where its whole interval is expected, contradicted where it lies
// elsewhere, and inconclusive where the interval has an end outside.
func TestSlopeVerdicts(t *testing.T) {
	for _, c := range []struct {
		expected [2]float64
		want     string
	}{{[2]float64{-1.2, -.8}, verdict.Supported}, {[2]float64{-.9, -.5}, verdict.Inconclusive}, {[2]float64{-1.01, -.99}, verdict.Inconclusive}, {[2]float64{-.5, 0}, verdict.Contradicted}} {
		x := &tester{doc: &record.MetricStability{}}
		s := record.MetricSeries{Name: "s", Expected: &c.expected}
		for _, n := range []float64{10, 20, 40} {
			s.Points = append(s.Points, record.MetricPoint{X: n, Repeats: []float64{.8 / n, 1.2 / n, 1 / n}})
		}
		x.add(s)
		if got := setVerdict(x.doc).Verdict; got != c.want {
			t.Errorf("%v: %s, want %s (%+v)", c.expected, got, c.want, x.doc.Checks)
		}
	}
}
