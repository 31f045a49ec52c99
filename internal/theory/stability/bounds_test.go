package stability

import (
	"math"
	"testing"

	"tercet/internal/record"
	"tercet/internal/testutil"
)

// given is what bounds.json gives a bound.
type given struct {
	NPos     int     `json:"n_pos"`
	NNeg     int     `json:"n_neg"`
	Delta    float64 `json:"delta"`
	Gamma    float64 `json:"gamma"`
	M        float64 `json:"m"`
	B        float64 `json:"b"`
	Tau      float64 `json:"tau"`
	L        float64 `json:"l"`
	Alpha    float64 `json:"alpha"`
	Radius   float64 `json:"radius"`
	Sigma    float64 `json:"sigma"`
	C        float64 `json:"c"`
	Steps    int     `json:"steps"`
	Mu       float64 `json:"mu"`
	Risk     float64 `json:"risk"`
	Norm     float64 `json:"norm"`
	MovedPos float64 `json:"moved_pos"`
	MovedNeg float64 `json:"moved_neg"`
	Eps      float64 `json:"eps"`
}

// bounds are all bounds by name, of anything that can be given.
var bounds = map[string]func(g given, o Options) (record.BoundValue, error){
	"theorem1": func(g given, o Options) (record.BoundValue, error) {
		return Theorem1(Theorem1Input{g.NPos, g.NNeg, g.Gamma, g.M, g.Delta}, o)
	},
	"theorem2": func(g given, o Options) (record.BoundValue, error) {
		return Theorem2(Theorem2Input{g.loss(), g.NPos, g.NNeg, g.C, g.Steps, g.M, g.Delta}, o)
	},
	"theorem3": func(g given, o Options) (record.BoundValue, error) {
		return Theorem3(Theorem3Input{g.loss(), g.NPos, g.NNeg, g.Sigma, g.B, g.Tau, g.Delta}, o)
	},
	"theorem4": func(g given, o Options) (record.BoundValue, error) {
		return Theorem4(Theorem4Input{g.loss(), g.NPos, g.NNeg, g.Sigma, g.Risk, g.Eps}, o)
	},
	"lemma1": func(g given, o Options) (record.BoundValue, error) { return Lemma1(Lemma1Input{g.Gamma}, o) },
	"lemma2": func(g given, o Options) (record.BoundValue, error) {
		return Lemma2(Lemma2Input{g.loss(), g.C, g.Steps}, o)
	},
	"lemma3": func(g given, o Options) (record.BoundValue, error) {
		return Lemma3(Lemma3Input{g.NPos, g.NNeg, g.B, g.Tau, g.Delta}, o)
	},
	"lemma4": func(g given, o Options) (record.BoundValue, error) {
		return Lemma4(RRMInput{g.loss(), g.NPos, g.NNeg, g.Sigma}, o)
	},
	"lemma5": func(g given, o Options) (record.BoundValue, error) {
		return Lemma5(RRMInput{g.loss(), g.NPos, g.NNeg, g.Sigma}, o)
	},
	"lemma6": func(g given, o Options) (record.BoundValue, error) {
		return Lemma6(Lemma6Input{g.loss(), g.NPos, g.Risk, g.MovedPos, g.MovedNeg, g.Eps}, o)
	},
	"lemma10": func(g given, o Options) (record.BoundValue, error) { return Lemma10(Lemma10Input{g.Mu, g.Delta}, o) },
	"corollary1": func(g given, o Options) (record.BoundValue, error) {
		return Corollary1(Corollary1Input{g.Radius, g.NPos, g.NNeg, g.C, g.Steps, g.M, g.Delta}, o)
	},
	"corollary2": func(g given, o Options) (record.BoundValue, error) {
		return Corollary2(Corollary2Input{g.Radius, g.NPos, g.NNeg, g.Sigma, g.B, g.Tau, g.Norm, g.Delta}, o)
	},
	"corollary3": func(g given, o Options) (record.BoundValue, error) {
		return Corollary3(Corollary3Input{g.loss(), g.NPos, g.NNeg, g.Norm, g.Risk}, o)
	},
}

func (g given) loss() Loss { return Loss{g.L, g.Alpha, g.Radius} }

func value(t *testing.T, bound string, g given, o Options) record.BoundValue {
	t.Helper()
	r, err := bounds[bound](g, o)
	if err != nil {
		t.Fatalf("%s of %+v: %v", bound, g, err)
	}
	return r
}

func with(r record.BoundValue, name string) float64 {
	for _, t := range r.With {
		if t.Name == name {
			return t.Value
		}
	}
	return math.NaN()
}

// bounds.json has each bound at drawn inputs, by 50 digits from the paper's text.
func TestBoundsAreThoseOfThePaper(t *testing.T) {
	var rows []struct {
		Bound, Form, Constants string
		Given                  given
		Value                  float64
		L, Alpha, Sigma, Best  *float64
	}
	testutil.ReadJSON(t, "testdata/bounds.json", &rows)
	seen := map[string]int{}
	for _, row := range rows {
		seen[row.Bound]++
		r := value(t, row.Bound, row.Given, Options{Form: row.Form, Constants: row.Constants})
		if !testutil.WithinRelative(r.Value, row.Value, 1e-13) || r.Form != row.Form {
			t.Errorf("%s, %s, constants %s, of %+v\ngot  %v\nwant %v", row.Bound, row.Form, row.Constants, row.Given, r.Value, row.Value)
		}
		if total := sum(r.Terms); r.Terms != nil && total != r.Value {
			t.Errorf("%s is %v, its terms sum to %v", row.Bound, r.Value, total)
		}
		for name, want := range map[string]*float64{"L": row.L, "alpha": row.Alpha, "sigma": row.Sigma, "eps, the best": row.Best} {
			if want != nil && !testutil.WithinRelative(with(r, name), *want, 1e-12) {
				t.Errorf("%s of %+v: %s is %v, want %v", row.Bound, row.Given, name, with(r, name), *want)
			}
		}
	}
	for name := range bounds {
		if want := map[string]bool{"lemma1": true, "lemma2": true, "corollary1": true}[name]; (seen[name] == 0) != want {
			t.Errorf("%d rows of %s", seen[name], name)
		}
	}
}

// Golden values of the reference, to the digits that it prints.
func TestGoldenValues(t *testing.T) {
	paper, corrected := Options{Form: Paper}, Options{Form: Corrected}
	tight := Options{Form: Corrected, Constants: Tight}
	n := func(n int) given {
		return given{NPos: n, NNeg: n, Gamma: 1 / float64(n), M: 1, Delta: 0.01, B: 2, Tau: 0.5, L: 8, Alpha: 64, Sigma: 1, C: 1.0 / 32, Steps: n}
	}
	l4 := n(1000)
	l4.L = 4
	unbalanced := given{NPos: 10, NNeg: 1000, L: 8, Sigma: 1}
	balanced := given{NPos: 1000, NNeg: 1000, L: 8, Sigma: 0.5}
	t4 := given{NPos: 1000, NNeg: 1000, Alpha: 4, Sigma: 1, Risk: 0.1}
	large := given{NPos: 100000, NNeg: 100000, Alpha: 4, Sigma: 1, Risk: 0.1}
	for _, c := range []struct {
		bound string
		given given
		o     Options
		want  float64
		unit  float64 // of the last digit
	}{
		{"theorem1", n(100), paper, 129.328474, 1e-6},
		{"theorem1", n(1000), corrected, 21.440438, 1e-6},
		{"theorem1", n(10000), paper, 3.717190, 1e-6},
		{"theorem1", n(1000000), paper, .186523, 1e-6},
		{"lemma3", n(100), paper, .702289, 1e-6},
		{"lemma3", n(100), corrected, .466813, 1e-6},
		{"lemma3", n(1000), paper, .182253, 1e-6},
		{"lemma3", n(1000), corrected, .117069, 1e-6},
		{"lemma3", n(10000), paper, .053650, 1e-6},
		{"lemma3", n(10000), corrected, .033965, 1e-6},
		{"theorem3", n(100), corrected, 66515.608, 1e-3},
		{"theorem3", n(1000), corrected, 9626.519, 1e-3},
		{"theorem3", l4, tight, 1199.665, 1e-3},
		{"theorem3", n(1000000), corrected, 18.555, 1e-3},
		{"theorem2", n(100), corrected, 66213.410, 1e-3},
		{"theorem2", n(1000), corrected, 34524.863, 1e-3},
		{"theorem2", n(10000), corrected, 15983.579, 1e-3},
		{"theorem2", n(1000000), corrected, 2837.414, 1e-3},
		{"lemma4", unbalanced, paper, .256, 1e-9},
		{"lemma4", unbalanced, corrected, 51.2, 1e-9},
		{"lemma4", unbalanced, tight, 25.6, 1e-9},
		{"lemma5", unbalanced, paper, 14.0217, 1e-4},
		{"lemma5", unbalanced, corrected, 198.2967, 1e-4},
		{"lemma5", unbalanced, tight, 70.1085, 1e-4},
		{"lemma4", balanced, paper, .512, 1e-9},
		{"lemma4", balanced, corrected, 1.024, 1e-9},
		{"lemma4", balanced, tight, .512, 1e-9},
		{"lemma5", balanced, paper, 28.04339, 1e-5},
		{"lemma5", balanced, corrected, 39.65935, 1e-5},
		{"lemma5", balanced, tight, 14.0217, 1e-5},
		{"theorem4", t4, paper, .00102176, 1e-8},
		{"theorem4", t4, corrected, .03480676, 1e-8},
		{"theorem4", large, paper, 1.018660392426403e-06, 1e-18},
		{"theorem4", large, corrected, .000322385682571552, 1e-16},
		{"lemma10", given{Mu: 2, Delta: 1e-6}, corrected, 15.3499, 1e-4},
		{"lemma10", given{Mu: 2, Delta: 1e-6}, paper, 11.1046, 1e-4},
	} {
		if got := value(t, c.bound, c.given, c.o).Value; math.Abs(got-c.want) > c.unit*0.500001 {
			t.Errorf("%s, %s %s: got %v, want %v", c.bound, c.o.Form, c.o.Constants, got, c.want)
		}
	}
	if got := with(value(t, "theorem4", t4, corrected), "eps, the best"); math.Abs(got-24.8350) > 5e-5 {
		t.Errorf("best eps is %v, want 24.8350", got)
	}
	if got := with(value(t, "theorem4", t4, paper), "eps, the best"); math.Abs(got-784.9583) > 5e-5 {
		t.Errorf("best printed eps is %v, want 784.9583", got)
	}
	for constants, want := range map[string][2]float64{Paper: {8, 64}, Tight: {4, 4}} {
		if l, alpha, err := Logistic(1, constants); err != nil || l != want[0] || alpha != want[1] {
			t.Errorf("%s: L %v, alpha %v, %v", constants, l, alpha, err)
		}
	}
}

// Lemma 5's 12 gamma/sigma and 3 gamma/sigma, Theorem 3's numbers from the appendix.
func TestExplicitFactors(t *testing.T) {
	g := given{NPos: 37, NNeg: 11, L: 3, Sigma: 0.25, Delta: 0.05}
	s := g.L * g.L / g.Sigma
	p, n := float64(g.NPos), float64(g.NNeg)
	log := 1 - math.Log(g.Delta)
	digits := math.Ceil(math.Log2(n*(p-1)*(p-1))) + 2
	want := min(48/p, 24/n)*s +
		math.E*s*(min(32*math.Sqrt(6/p), 32*math.Sqrt(3/n))*(1/math.Sqrt(n)+2/math.Sqrt(p-1))*math.Sqrt(log)+
			min(192*math.Sqrt2/p, 96*math.Sqrt2/n)*digits*log)
	if got := value(t, "theorem3", g, Options{Form: Paper}); !testutil.WithinRelative(got.Value, want, 1e-13) {
		t.Errorf("got %v, want %v", got.Value, want)
	}
	g.Delta *= 2 // delta/2 each
	want = max(48/p, 24/n)*s +
		math.E*s*(max(32*math.Sqrt(6/p), 32*math.Sqrt(3/n))*(1/math.Sqrt(n)+2/math.Sqrt(p-1))*math.Sqrt(log)+
			max(192*math.Sqrt2/p, 96*math.Sqrt2/n)*digits*log)
	if got := value(t, "theorem3", g, Options{}); !testutil.WithinRelative(got.Value, want, 1e-13) {
		t.Errorf("got %v, want %v", got.Value, want)
	}
	two := value(t, "lemma2", given{L: 3, Alpha: 5, C: 0.25, Steps: 7}, Options{})
	if one := value(t, "lemma1", given{Gamma: two.Value}, Options{}); two.Value != 31.5 || one.Value != 94.5 {
		t.Errorf("Lemma 2 is %v, want 2*9*0.25*7; Lemma 1 is %v", two.Value, one.Value)
	}
}

// The corollaries are the theorems with constants of the logistic loss.
func TestCorollaries(t *testing.T) {
	g := given{NPos: 500, NNeg: 300, Radius: 0.5, C: 0.25, Steps: 400, M: 0.7, Delta: 0.05, Norm: 2, Sigma: 0.1, B: 3, Tau: 0.2}
	n, log := 300.0, math.Log(1/g.Delta)
	for _, form := range []string{Paper, Corrected} {
		o := Options{Form: form}
		one := value(t, "corollary1", g, o)
		if want := value(t, "theorem2", g, o).Value; one.Value != want {
			t.Errorf("Corollary 1 is %v, Theorem 2 %v", one.Value, want)
		}
		rate := (math.Log(n)*math.Pow(log, 1.5) + math.Sqrt(log)) / math.Sqrt(n)
		if form == Corrected {
			rate = (math.Log(n)*math.Log(n/g.Delta)*log + math.Sqrt(log)) / math.Sqrt(n)
		}
		if one.Rate == nil || !testutil.WithinRelative(one.Rate.Value, rate, 1e-13) {
			t.Errorf("rate of Corollary 1 is %+v, want %v", one.Rate, rate)
		}
		two := value(t, "corollary2", g, o)
		at := g
		if form == Corrected {
			at.Delta /= 2
		}
		want := value(t, "theorem3", g, o).Value + value(t, "lemma3", at, o).Value + 0.2
		if rate := math.Log(n) * log / math.Sqrt(n); !testutil.WithinRelative(two.Value, want, 1e-13) || two.Rate == nil || !testutil.WithinRelative(two.Rate.Value, rate, 1e-13) || sum(two.Terms) != two.Value {
			t.Errorf("Corollary 2 is %v, want %v; its rate %+v", two.Value, want, two.Rate)
		}
	}
	three := given{NPos: 40000, NNeg: 40000, Alpha: 0.01, Norm: 2, Risk: 4.0 / 200}
	paper, corrected := value(t, "corollary3", three, Options{Form: Paper}), value(t, "corollary3", three, Options{})
	// R(w*) = n^-1/2 ||w*||^2, where the paper has O(||w*||^2/n) by sigma = 1/n.
	if !testutil.WithinRelative(with(paper, "sigma"), 1.0/40000, 1e-12) || !testutil.WithinRelative(paper.Rate.Value, 4.0/40000, 1e-2) {
		t.Errorf("sigma %v, rate %v", with(paper, "sigma"), paper.Rate)
	}
	if want := 4*math.Pow(40000, -0.75) + 4.0/40000; !testutil.WithinRelative(corrected.Rate.Value, want, 1e-12) {
		t.Errorf("rate %v, want %v: n^-3/4 at that noise (S3)", corrected.Rate.Value, want)
	}
}
