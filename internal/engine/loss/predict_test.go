package loss

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/rng"
)

// predictors lists the objectives that predict, with the rule written out in float64
// from the papers: DIBS eqs. 20, 23 (s as in eq. 21, corrected or as printed); Ho et
// al.'s tau.
func predictors(t *testing.T) map[string]struct {
	of   Options
	rule func(distance, cosine float64) (similar bool, slack float64)
} {
	t.Helper()
	below := func(at float64) func(d, c float64) (bool, float64) {
		return func(d, _ float64) (bool, float64) { return d < at, math.Abs(d - at) }
	}
	const third = math.Pi / 3
	return map[string]struct {
		of   Options
		rule func(distance, cosine float64) (bool, float64)
	}{
		"contrastive":          {ContrastiveOptions{Margin: 1.5, Reduce: Mean}, below(0.75)},
		"contrastive, default": {ContrastiveDefaults(), below(0.5)},
		"capped":               {CappedOptions{Alpha: 1.5, Beta: 0.5, Reduce: Mean}, below(1)},
		"threshold":            {ThresholdOptions{Alpha: 3, Beta: 1, Reduce: Mean, Pairing: ByPairs}, below(math.Sqrt2)},
		"cosine": {CosineDefaults(), func(_, c float64) (bool, float64) {
			return c > math.Cos(third/2), math.Abs(c - math.Cos(third/2))
		}},
		"cosine, margin -0.5": {CosineOptions{Similarity: Cosine, Margin: math.Cos(2 * third), Reduce: Mean}, func(_, c float64) (bool, float64) {
			return c > math.Cos(third), math.Abs(c - 0.5)
		}},
		"cosine, as printed": {CosineOptions{Similarity: CosineOfCosine, Margin: 0.5, Reduce: Mean}, func(_, c float64) (bool, float64) {
			s := math.Cos(c)
			return s > math.Cos(third/2), math.Abs(s - math.Cos(third/2))
		}},
	}
}

func TestPairRules(t *testing.T) {
	r := rng.New(1, "predict")
	for name, p := range predictors(t) {
		rule := p.of.(PairPredictor).PairRule()
		seen := [2]int{}
		for i := range 2000 {
			z := random(r, 2, 2+i%7, 0.8)
			if i%3 == 0 { // nearly parallel
				for k, v := range z.Row(0) {
					z.Row(1)[k] = v * (1 + float32(i%5)/4)
				}
				z.Row(1)[0] += 0.3
			}
			x := rowsOf(z)
			inner := 0.0
			for k := range x[0] {
				inner += x[0][k] * x[1][k]
			}
			want, slack := p.rule(norm(minus(x[0], x[1])), inner/norm(x[0])/norm(x[1]))
			if slack < 1e-9 {
				continue
			}
			if want {
				seen[1]++
			} else {
				seen[0]++
			}
			if got := rule.Similar(z.Row(0), z.Row(1)); got != want || rule.Similar(z.Row(1), z.Row(0)) != want {
				t.Fatalf("%s: %v and %v: similar %v, want %v", name, x[0], x[1], got, want)
			}
		}
		if seen[0] < 50 || seen[1] < 50 {
			t.Errorf("%s: %v pairs of each kind", name, seen)
		}
	}
}

func TestPairRuleByHand(t *testing.T) {
	distance := PairRule{At: 5}
	if s := distance.Score([]float32{0, 0}, []float32{3, 4}); s != 5 {
		t.Errorf("distance %v", s)
	}
	if distance.Similar([]float32{0, 0}, []float32{3, 4}) || !distance.Similar([]float32{0, 0}, []float32{3, 3.99}) {
		t.Error("at 5 a pair is different, below it similar")
	}
	cosine := PairRule{Cosine: true, At: 0.6}
	for _, c := range []struct {
		x, y    []float32
		score   float64
		similar bool
	}{
		{[]float32{2, 0}, []float32{3, 4}, 0.6, false},
		{[]float32{2, 0}, []float32{4, 3}, 0.8, true},
		{[]float32{2, 0}, []float32{-7, 0}, -1, false},
		{[]float32{0, 0}, []float32{3, 4}, 0, false},
		{[]float32{1e-30, 0}, []float32{4e30, 3e30}, 0.8, true}, // squares that float32 does not hold
	} {
		if s := cosine.Score(c.x, c.y); math.Abs(s-c.score) > 1e-7 || cosine.Similar(c.x, c.y) != c.similar {
			t.Errorf("%v, %v: cosine %v, want %v", c.x, c.y, s, c.score)
		}
	}
	nan := float32(math.NaN())
	for _, r := range []PairRule{distance, cosine, {Cosine: true, At: -1, Paper: true}} {
		if r.Similar([]float32{nan, 0}, []float32{nan, 0}) {
			t.Errorf("%v: NaN is similar", r)
		}
	}
	for r, want := range map[PairRule]string{distance: "distance is below 5", cosine: "where the cosine is above 0.6", {true, 0.5, true}: "cosine of the cosine is above 0.5"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("%q, want %q", r, want)
		}
	}
}

// A pair that costs a contrastive loss nothing is predicted as labeled, and one
// labeled both ways rests at m/2: one error of two.
func TestPairRuleAtRest(t *testing.T) {
	l, err := NewContrastive(ContrastiveOptions{Margin: 1, Reduce: Sum})
	if err != nil {
		t.Fatal(err)
	}
	rule := l.o.PairRule()
	if !rule.Similar([]float32{0}, []float32{0}) || rule.Similar([]float32{0}, []float32{1}) {
		t.Error("pairs without cost are predicted wrongly")
	}
	z := random(rng.New(2, "predict"), 2, 1, 1)
	z.Data[0], z.Data[1] = 0, 0.5
	grad := z.Clone()
	if _, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, true}, {0, 1, false}}}, grad); err != nil {
		t.Fatal(err)
	}
	if grad.Data[0] != 0 || grad.Data[1] != 0 || rule.Similar(z.Row(0), z.Row(1)) {
		t.Errorf("at m/2: gradient %v, similar %v", grad.Data, rule.Similar(z.Row(0), z.Row(1)))
	}
}
