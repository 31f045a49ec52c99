package measure

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/mahalanobis"
	"tercet/internal/record"
	"tercet/internal/testutil"
	"tercet/internal/verdict"
)

// Least squares in one dimension, n+ = 2, n- = 1: all samples, all replacements and all
// triplets of different positives of the two coins can be listed.
func TestNotionsAgainstEnumeration(t *testing.T) {
	const sigma, zeta = .2, .5
	v := func(x, y, z float64) float64 { return (x-y)*(x-y) - (x-z)*(x-z) }
	phi := func(u float64) float64 { return u * u / 2 }
	learn := func(n int) float64 {
		x, y, z := heads[0][n&1], heads[0][n>>1&1], heads[1][n>>2&1]
		a, b := v(x, y, z), v(y, x, z)
		return -zeta * (a + b) / 2 / ((a*a+b*b)/2 + sigma)
	}
	// Positives: the first of S is replaced (the second is alike); negatives: the one.
	var size, moved [2]float64
	for n := range 8 {
		for side, bit := range []int{1, 4} {
			for _, other := range []int{n | bit, n &^ bit} {
				w, u := learn(n), learn(other)
				moved[side] += math.Abs(w-u) / 16
				for z := range 8 {
					m := v(heads[0][z&1], heads[0][z>>1&1], heads[1][z>>2&1])
					size[side] += math.Abs(phi(u*m+zeta)-phi(w*m+zeta)) / 16 / 8
				}
			}
		}
	}
	a := RRM{Loss: lossOf(t, mahalanobis.LeastSquares, zeta), Sigma: record.Scale{Factor: sigma}}
	o := NotionsOptions{Source: coins{}, Learner: a, Sizes: record.Sizes{Pos: 2, Neg: 1}, Repeats: 3000, Replaced: 1, Triplets: 40, Seed: 1}
	m, err := Notions(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for side, got := range [][2]record.Estimate{m.Positives, m.Negatives} {
		testutil.Near(t, "mean |l - l'|", got[0].Value, size[side], 3**got[0].SE)
		testutil.Near(t, "mean ||w - w'||", got[1].Value, moved[side], 3**got[1].SE)
		if *got[0].SE > size[side]/8 || got[0].Value > m.Hypothesis.Value || got[1].Value > m.Moved.Value {
			t.Errorf("side %d: %+v", side, got)
		}
	}
	if m.Error.Value > m.Elastic.Value || m.Hypothesis.Value > m.Elastic.Value*(1+1e-12) {
		t.Errorf("%+v", m)
	}
}

// Ten triplets on a line, at 0, 1, ..., 9 from the replaced point, whose losses change by
// 10, 9, ..., 1 and -1 alternately.
func TestChangesNearAndFar(t *testing.T) {
	var before, after, triplets []float64
	for k := range 10 {
		triplets = append(triplets, float64(k)+3, float64(k)+1, 20)
		before, after = append(before, 5), append(after, 5+float64(10-k)*math.Pow(-1, float64(k)))
	}
	c := changesAt(before, after, triplets, []float64{1})
	for i, v := range [][2]float64{{c.size, 5.5}, {c.shift, .5}, {c.near, 10}, {c.far, 1}} {
		if math.Abs(v[0]-v[1]) > 1e-12 {
			t.Errorf("%d: %g, want %g", i, v[0], v[1])
		}
	}
}

func TestNotionClaims(t *testing.T) {
	t.Parallel()
	d := testClaim(t, "T12", Study{Repeats: 3, Triplets: 150, Most: record.Sizes{Pos: 40, Neg: 40}})
	if len(d.Series) != 7 || len(d.Checks) != 11 || d.Series[1].Points[0].Notions == nil {
		t.Errorf("%d series, %d checks", len(d.Series), len(d.Checks))
	}
	for _, c := range d.Checks[:4] { // theorems
		if c.Holds == nil || !*c.Holds {
			t.Errorf("%s: %s", c.Says, c.Found)
		}
	}
}

// The hinge has Lemma 4 and no Theorem 4, least squares the reverse, Huber both.
func TestLossClaims(t *testing.T) {
	t.Parallel()
	d := testClaim(t, "T11", Study{Repeats: 2, Triplets: 100, Most: record.Sizes{Pos: 40, Neg: 40}, Held: record.Sizes{Pos: 20, Neg: 20}})
	if len(d.Series) != 9 {
		t.Fatalf("%d series", len(d.Series))
	}
	for i, want := range [][2]bool{{true, false}, {true, true}, {false, true}} {
		gamma, gap, errors := d.Series[3*i], d.Series[3*i+1], d.Series[3*i+2]
		if (gamma.Points[0].Bounds != nil) != want[0] || (gap.Points[0].Bounds != nil) != want[1] {
			t.Errorf("%s: bounds on gamma %v, on the gap %v", gamma.Name, gamma.Points[0].Bounds, gap.Points[0].Bounds)
		}
		for _, p := range gap.Points {
			for _, b := range p.Bounds {
				if b.Form == "corrected" && b.Crossed {
					t.Errorf("%s, n = %g: gap %g, %s %g", gap.Name, p.X, p.Measured.Value, b.Source, b.Value)
				}
			}
		}
		e := gap.Points[0].Gap.Errors
		if e.Zeta != .1 || e.TestZeta.Value < e.Test.Value || errors.Points[0].Measured.Value != EstimateOf(e.GapZeta).Value {
			t.Errorf("0-1 losses %+v", e)
		}
		if d := math.Abs(e.TestZeta.Value - e.TrainZeta.Value - errors.Points[0].Measured.Value); d > 1e-12 {
			t.Errorf("gap of the 0-1 loss is off by %g", d)
		}
	}
	if d.Verdict == verdict.Contradicted {
		for _, c := range d.Checks {
			t.Log(c.Says, c.Found)
		}
		t.Error(d.Verdict)
	}
}
