package stability

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

var forms = []Options{
	{Form: Paper}, {Form: Corrected}, {Form: Paper, Constants: Tight}, {Form: Corrected, Constants: Tight},
}

// plain is something that every bound can be calculated of.
func plain(n int) given {
	return given{
		NPos: n, NNeg: n, Delta: 0.05, Gamma: 1 / float64(n), M: 1, B: 2, Tau: 0.5, L: 2, Alpha: 3, Sigma: 1, C: 0.5, Steps: n,
		Mu: 1.5, Risk: 0.3, Norm: 0.01, MovedPos: 0.02, MovedNeg: 0.01,
	}
}

// of gives those bounds a radius that know only the logistic loss.
func of(bound string, g given) given {
	if bound == "corollary1" || bound == "corollary2" {
		g.L, g.Alpha, g.Radius, g.C = 0, 0, 0.5, 0.5
	}
	return g
}

// each calls f with every bound in every form.
func each(t *testing.T, f func(bound string, o Options)) {
	for bound := range bounds {
		for _, o := range forms {
			t.Run(fmt.Sprint(bound, o.Form, o.Constants), func(t *testing.T) { f(bound, o) })
		}
	}
}

func TestMoreSamplesSmallerBounds(t *testing.T) {
	each(t, func(bound string, o Options) {
		start, last := 0.0, math.Inf(1)
		const most = min(1<<40, math.MaxInt/8+1) // 2^28 on 32-bit machines
		for n := 64; n <= most; n *= 4 {
			g := of(bound, plain(n))
			if bound == "lemma1" || bound == "lemma2" || bound == "lemma10" {
				g = given{Gamma: g.Gamma, L: 2, Alpha: 3, C: 0.5 / math.Sqrt(float64(n)), Steps: 3, Mu: 100 / float64(n), Delta: 1 - 1/float64(n)}
			}
			r := value(t, bound, g, o)
			if bound == "lemma6" {
				if r.Value <= 0 { // its moved models are given and not bounded by n
					t.Errorf("%v", r.Value)
				}
				continue
			}
			if !(r.Value < last && r.Value > 0) {
				t.Errorf("n = %d: %v after %v", n, r.Value, last)
			}
			last = r.Value
			start = max(start, last)
		}
		left := 1e-3
		if most < 1<<40 {
			left = 1e-2
		}
		if bound != "lemma6" && !(last < left*start) {
			t.Errorf("%v of %v is left at n = %d", last, start, most)
		}
	})
}

// Each number pulls its bounds up or down.
func TestMonotone(t *testing.T) {
	for _, c := range []struct {
		number string
		change func(g *given)
		up     string // bounds that grow, the others must not
	}{
		{"gamma", func(g *given) { g.Gamma *= 2 }, "theorem1 lemma1"},
		{"M", func(g *given) { g.M *= 2 }, "theorem1 theorem2 corollary1"},
		{"delta", func(g *given) { g.Delta /= 2 }, "theorem1 theorem2 theorem3 lemma3 lemma10 corollary1 corollary2"},
		{"L", func(g *given) { g.L *= 2 }, "theorem2 theorem3 lemma2 lemma4 lemma5"},
		{"alpha", func(g *given) { g.Alpha *= 1.2 }, "theorem4 lemma6 corollary3"},
		{"radius", func(g *given) { g.Radius *= 1.2 }, "corollary1 corollary2"},
		{"1/sigma", func(g *given) { g.Sigma /= 2 }, "theorem3 theorem4 lemma4 lemma5 corollary2"},
		{"step", func(g *given) { g.C *= 1.2 }, "theorem2 lemma2 corollary1"},
		{"steps", func(g *given) { g.Steps *= 16 }, "theorem2 lemma2 corollary1"},
		{"b", func(g *given) { g.B *= 2 }, "theorem3 lemma3 corollary2"},
		{"tau", func(g *given) { g.Tau *= 2 }, "theorem3 lemma3 corollary2"},
		{"mu", func(g *given) { g.Mu *= 2 }, "lemma10"},
		{"risk", func(g *given) { g.Risk *= 2 }, "theorem4 lemma6 corollary3"},
		{"norm", func(g *given) { g.Norm *= 2 }, "corollary2"},
		{"moved", func(g *given) { g.MovedPos *= 2 }, "lemma6"},
		{"moved", func(g *given) { g.MovedNeg *= 2 }, "lemma6"},
	} {
		grow := strings.Fields(c.up)
		each(t, func(bound string, o Options) {
			g := of(bound, plain(400))
			if g.Radius > 0 {
				g.C = 1e-3
			}
			before := value(t, bound, g, o).Value
			c.change(&g)
			if g.Radius > 0 {
				g.L, g.Alpha = 0, 0
			}
			after, up := value(t, bound, g, o).Value, false
			for _, name := range grow {
				up = up || name == bound
			}
			switch {
			case up && !(after > before):
				t.Errorf("%s: %v after %v", c.number, after, before)
			case !up && c.number != "norm" && c.number != "1/sigma" && after != before:
				t.Errorf("%s is not used, but %v became %v", c.number, before, after)
			}
		})
	}
}

// S1: max for min, and half of it where F_S and the F of the changed sample are both
// strongly convex. The two sides agree at n+ = 2 n-.
func TestLargerReplacementBounds(t *testing.T) {
	for _, size := range [][2]int{{4, 1500}, {1500, 4}, {10, 1000}, {200, 100}, {7, 7}} {
		g := given{NPos: size[0], NNeg: size[1], L: 8, Sigma: 4, B: 2, Tau: 0.1, Delta: 0.01}
		for _, bound := range []string{"lemma4", "lemma5", "theorem3"} {
			paper, corrected, tight := value(t, bound, g, forms[0]).Value, value(t, bound, g, forms[1]).Value, value(t, bound, g, forms[3]).Value
			if same := g.NPos == 2*g.NNeg && bound != "theorem3"; same != (math.Abs(corrected-paper) < 1e-12*paper) || corrected < paper*(1-1e-12) || !(tight < corrected) {
				t.Errorf("%s at %v: paper %v, corrected %v, tight %v", bound, size, paper, corrected, tight)
			}
		}
	}
	// The reference measured .191 at n+ = 4, n- = 1500, sigma = 4.
	g := given{NPos: 4, NNeg: 1500, L: 8, Sigma: 4}
	if paper, corrected := value(t, "lemma4", g, forms[0]).Value, value(t, "lemma4", g, forms[1]).Value; !(paper < 0.0427 && corrected == 32) {
		t.Errorf("paper %v, corrected %v", paper, corrected)
	}
}

// S2: the printed bracket is n+ - 1 times too small, and right at n+ = 2.
func TestPrintedBracketIsTooSmall(t *testing.T) {
	for _, n := range []int{2, 3, 50} {
		g := given{NPos: n, NNeg: 50, Alpha: 0.1, Sigma: 1, Risk: 0.3, MovedPos: 0.02, MovedNeg: 0.01, Eps: 0.7}
		for _, bound := range []string{"lemma6", "theorem4"} {
			paper, corrected := value(t, bound, g, forms[0]), value(t, bound, g, forms[1])
			for i, factor := range []float64{1, float64(n - 1), float64(n - 1)} {
				if !testutil.WithinRelative(corrected.Terms[i].Value, factor*paper.Terms[i].Value, 1e-12) {
					t.Errorf("%s, n+ = %d, %s: paper %v, corrected %v", bound, n, paper.Terms[i].Name, paper.Terms[i].Value, corrected.Terms[i].Value)
				}
			}
		}
	}
}

// Theorem 4 is Lemma 6 with eqs. 14 and 15 for the squared distances.
func TestTheorem4IsLemma6(t *testing.T) {
	g := given{NPos: 90, NNeg: 30, Alpha: 2, Sigma: 0.8, Risk: 0.3}
	p, n := float64(g.NPos), float64(g.NNeg)
	g.MovedPos = 512 * g.Alpha * g.Risk / (p * p * g.Sigma * g.Sigma)
	g.MovedNeg = 512 * g.Alpha * g.Risk / (9 * n * n * g.Sigma * g.Sigma)
	for _, o := range forms[:2] {
		for _, g.Eps = range []float64{0, 0.3, 30} {
			if a, b := value(t, "theorem4", g, o).Value, value(t, "lemma6", g, o).Value; !testutil.WithinRelative(a, b, 1e-12) {
				t.Errorf("%s, eps %v: %v and %v", o.Form, g.Eps, a, b)
			}
		}
	}
}

func TestBestEpsIsAMinimum(t *testing.T) {
	g := plain(500)
	for _, bound := range []string{"theorem4", "lemma6"} {
		for _, o := range forms[:2] {
			best := value(t, bound, g, o)
			eps := with(best, "eps, the best")
			for _, factor := range []float64{0.01, 0.5, 0.99, 1.01, 2, 100} {
				at := g
				at.Eps = eps * factor
				if r := value(t, bound, at, o); !(r.Value > best.Value) || with(r, "eps") != at.Eps {
					t.Errorf("%s, %s: %v at eps %v, %v at the best %v", bound, o.Form, r.Value, at.Eps, best.Value, eps)
				}
			}
		}
	}
	p, n := 500.0, 500.0
	if want := math.Sqrt(3 * p * p * n * n / (4608*n*n + 256*p*p)); !testutil.WithinRelative(with(value(t, "theorem4", g, Options{}), "eps, the best"), want, 1e-12) {
		t.Errorf("not the eps of Remark 6")
	}
	// Where nothing moves, or there is no risk, the least value is a limit's.
	g.MovedPos, g.MovedNeg = 0, 0
	if r := value(t, "lemma6", g, Options{}); r.Value != 0 || len(r.With) != 1 {
		t.Errorf("%+v", r)
	}
	g = plain(500)
	g.Risk = 0
	if r := value(t, "lemma6", g, Options{}); !testutil.WithinRelative(r.Value, 1.5*3*(2*0.02+0.01), 1e-12) || len(r.With) != 1 {
		t.Errorf("%+v", r)
	}
}

// S5: the tail of a binomial beyond each form of Lemma 10. The printed one fails for
// the means that SGD has at T = n, Bernstein's never.
func TestTailsOfUses(t *testing.T) {
	tail := func(steps int, mean, beyond float64) float64 { // P(X > beyond)
		p, total := mean/float64(steps), 0.0
		for k := int(math.Floor(beyond)) + 1; k <= steps; k++ {
			lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
			term := math.Exp(lg(steps) - lg(k) - lg(steps-k) + float64(k)*math.Log(p) + float64(steps-k)*math.Log1p(-p))
			if total += term; term < 1e-18*total {
				break // beyond the mean they only fall
			}
		}
		return total
	}
	const steps = 2000
	for _, mean := range []float64{0.1, 1, 1.5, 2, 5, 40, 400} {
		for _, delta := range []float64{0.3, 1e-2, 1e-4, 1e-6, 1e-9} {
			r := value(t, "lemma10", given{Mu: mean, Delta: delta}, Options{})
			if p := tail(steps, mean, r.Value); !(p <= delta) {
				t.Errorf("mean %v: P(X > %v) = %v, want at most %v", mean, r.Value, p, delta)
			}
		}
	}
	for _, c := range []struct{ mean, delta, want float64 }{{1.5, 1e-4, 1.7e-4}, {2, 1e-6, 1.36e-6}} {
		r := value(t, "lemma10", given{Mu: c.mean, Delta: c.delta}, Options{Form: Paper})
		if p := tail(1000000, c.mean, r.Value); math.Abs(p-c.want) > 0.01*c.want || !strings.Contains(strings.Join(r.Notes, "\n"), "need not hold") {
			t.Errorf("mean %v: P(X > %v) = %v, want %v; %q", c.mean, r.Value, p, c.want, r.Notes)
		}
	}
	if r := value(t, "lemma10", given{Mu: 100, Delta: 0.01}, Options{Form: Paper}); strings.Contains(strings.Join(r.Notes, "\n"), "need not hold") {
		t.Errorf("mu = 100 is enough: %q", r.Notes)
	}
}

// ceil(log2 .) of exact products, next to powers of two that float64 cannot tell apart.
func TestLogSize(t *testing.T) {
	const far = strconv.IntSize - 24 // 2^40, or as far as 32-bit machines go
	for _, c := range []struct{ nPos, nNeg, want int }{
		{2, 1, 0}, {2, 2, 1}, {3, 1, 2}, {2, 1 << 30, 30}, {2, 1<<30 + 1, 31}, {1<<27 + 1, 1, 54}, {1<<27 + 2, 1, 55},
		{1<<20 + 1, 1 << 20, 60}, {1<<20 + 1, 1<<20 + 1, 61}, {1<<far + 1, 1 << far, 3 * far},
	} {
		if got := logSize(c.nPos, c.nNeg); got != c.want {
			t.Errorf("n+ = %d, n- = %d: %d, want %d", c.nPos, c.nNeg, got, c.want)
		}
	}
}

func TestVacuous(t *testing.T) {
	g := plain(1000)
	for _, o := range []Options{{Sup: 21.4}, {Sup: 21.5}, {}} {
		g.Delta, g.Gamma = 0.01, 0.001
		r := value(t, "theorem1", g, o)
		if o.Sup == 0 != (r.Vacuous == nil) || r.Vacuous != nil && *r.Vacuous != (o.Sup == 21.4) || r.Sup != o.Sup {
			t.Errorf("sup %v: %v, %v", o.Sup, r.Value, r.Vacuous)
		}
	}
	// Lemma 3 has its b.
	if r := value(t, "lemma3", plain(4), Options{}); r.Vacuous == nil || !*r.Vacuous || r.Sup != 2 {
		t.Errorf("%+v", r)
	}
	if r := value(t, "lemma3", plain(4000), Options{}); *r.Vacuous {
		t.Errorf("%+v", r)
	}
	// Lemma 10 counts steps.
	if r := value(t, "lemma10", g, Options{Sup: 1}); r.Vacuous != nil {
		t.Errorf("%+v", r)
	}
}

// Each bound names itself and the faults that concern it, and can be written as JSON.
func TestResultsSayWhatTheyAre(t *testing.T) {
	want := map[string]string{
		"theorem1": "S15", "theorem2": "S5 S6 S7 S10 S15 S8", "theorem3": "S1 S9 S10 S12 S15", "theorem4": "S2",
		"lemma1": "", "lemma2": "S7", "lemma3": "S9", "lemma4": "S1", "lemma5": "S1 S12", "lemma6": "S2", "lemma10": "S5",
		"corollary1": "S4 S11 S14 S5 S6 S7 S10 S15 S8", "corollary2": "S4 S11 S1 S9 S10 S12 S15", "corollary3": "S2 S3 S12 S13",
	}
	each(t, func(bound string, o Options) {
		r := value(t, bound, of(bound, plain(100000)), o)
		if name := strings.ToLower(strings.ReplaceAll(r.Source, " ", "")); name != bound || r.Bounds == "" || r.Holds == "" || r.Form != o.Form {
			t.Errorf("%+v", r)
		}
		var ids []string
		for _, n := range r.Notes {
			id, text, ok := strings.Cut(n, ": ")
			if ok && strings.HasPrefix(id, "S") {
				ids = append(ids, id)
			}
			if len(text) == 0 && ok {
				t.Errorf("note %q says nothing", n)
			}
		}
		if got := strings.Join(ids, " "); got != want[bound] {
			t.Errorf("notes on %s, want %s", got, want[bound])
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
	if r := value(t, "lemma1", given{Gamma: 1}, Options{}); r.Form != Corrected {
		t.Errorf("form is %q", r.Form)
	}
}
