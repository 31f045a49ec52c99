package noise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Comparisons counted by hand: couples of two, three and five pairs.
func TestFromContradictions(t *testing.T) {
	var pairs []batch.Pair
	for i, labels := range []string{"sd", "ss", "dd", "dds", "sdsds", "s", "ds"} {
		for j, l := range labels {
			p := pair(int32(2*i), int32(2*i+1), l == 's')
			if j%2 == 1 {
				p.I, p.J = p.J, p.I
			}
			pairs = append(pairs, p)
		}
	}
	// sd | ss | dd | dd, s left over | sd, sd, s left over | none | ds
	e, err := FromContradictions(pairs)
	if err != nil || e.N != 7 || e.Contradictions != 4 || e.Method != "contradictions" || e.P != 0.5 || e.CI95[1] != 0.5 {
		t.Errorf("%+v, %v", e, err)
	}
	// Wilson's interval of 4 of 7 is (.2505, .8418); 2P(1-P) = .2505 at P = .14684.
	testutil.Near(t, "lower end", e.CI95[0], 0.14684, 1e-4)
	for _, some := range [][]batch.Pair{nil, {pair(0, 1, true), pair(1, 2, false)}} {
		if _, err := FromContradictions(some); err == nil || !strings.Contains(err.Error(), "no image pair is listed twice") {
			t.Errorf("%v: %v", some, err)
		}
	}
	e, err = FromContradictions([]batch.Pair{pair(0, 1, true), pair(1, 0, true)})
	if err != nil || e.P != 0 || e.CI95[0] != 0 || e.CI95[1] <= 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// The interval holds the flip rate of dense graphs in most of 40 draws, at least 33 of
// them (38 expected, more than three standard deviations), and the mean meets it.
func TestContradictionsTellTheRate(t *testing.T) {
	for _, c := range []struct {
		k int
		p float64
	}{{2, 0.05}, {2, 0.2}, {5, 0.1}, {10, 0.1}, {10, 0.3}} {
		y := inTurn(3000, c.k)
		held, sum := 0, 0.0
		for d := range uint64(40) {
			pairs, _ := graph(t, y, y, c.k, GraphOptions{Scenario: Dense, Pairs: 3000, Wrong: Coins(2 * c.p), Draw: d})
			e, err := FromContradictions(pairs)
			if err != nil {
				t.Fatal(err)
			}
			sum += e.P / 40
			if e.CI95[0] <= c.p && c.p <= e.CI95[1] {
				held++
			}
		}
		t.Logf("%d classes, P = %v: mean %.4f, the interval holds it in %d of 40", c.k, c.p, sum, held)
		if held < 33 {
			t.Errorf("%d classes, P = %v: the interval holds it in %d of 40", c.k, c.p, held)
		}
		testutil.Near(t, "mean", sum, c.p, 0.02)
	}
}

// The losses of testdata/golden.py, and what an EM over single values makes of them.
func TestFromLossesGolden(t *testing.T) {
	for _, c := range []struct {
		wrong                    int
		p, low, high, separation float64
	}{

		{100, 0.1574247985375122, 0.10576968965705988, 0.7290584052932637, 4.334156667083685},
		{200, 0.37524251877802506, 0.10071963610127395, 0.703105184004884, 4.107040753483796},
	} {
		losses := make([]float64, 500)
		for i := range losses {
			if i < c.wrong {
				losses[i] = .45 + .5*math.Mod(float64(i)*.7548776662, 1)
			} else {
				losses[i] = .4 * math.Pow(math.Mod(float64(i)*.6180339887, 1), 4)
			}
		}
		e, err := FromLosses(losses, 1)
		if err != nil {
			t.Fatal(err)
		}
		testutil.Near(t, "P", e.P, c.p, 1e-4)
		testutil.Near(t, "low mean", e.Means[0], c.low, 1e-4)
		testutil.Near(t, "high mean", e.Means[1], c.high, 1e-4)
		testutil.Near(t, "separation", e.Separation, c.separation, 0.01)
		if e.N != 500 || e.Method != "loss-mixture" || !(e.CI95[0] <= e.P && e.P <= e.CI95[1]) || e.CI95[1]-e.CI95[0] > 0.2 {
			t.Errorf("%+v", e)
		}
	}
}

// drawLosses is n losses, each wrong with probability p: right ones are gamma(1/2, 0.4),
// half a normal number squared, wrong ones gamma(9, 0.3), a sum of exponential ones.
func drawLosses(n int, p float64, seed uint64) []float64 {
	s := rng.New(seed, "test/losses")
	out := make([]float64, n)
	for i := range out {
		if s.Float64() < p {
			for range 9 {
				out[i] += 0.3 * s.ExpFloat64()
			}
		} else {
			z := s.NormFloat64()
			out[i] = 0.2 * z * z
		}
	}
	return out
}

func TestLossesTellTheRate(t *testing.T) {
	for _, p := range []float64{0.05, 0.2} {
		seeds, held, sum := testutil.Trials(4, 12), 0, 0.0
		for seed := range uint64(seeds) {
			e, err := FromLosses(drawLosses(1500, p, seed), seed)
			if err != nil {
				t.Fatal(err)
			}
			sum += e.P / float64(seeds)
			if e.CI95[0] <= p && p <= e.CI95[1] {
				held++
			}
		}
		t.Logf("P = %v: mean %.4f, the interval holds it in %d of %d", p, sum, held, seeds)
		testutil.Near(t, "mean", sum, p, 0.015)
		if 4*held < 3*seeds {
			t.Errorf("P = %v: the interval holds it in %d of %d", p, held, seeds)
		}
	}
}

// A lost item far above all others is not a group.
func TestOutliersAreCut(t *testing.T) {
	losses := drawLosses(3000, 0.2, 3)
	plain, err := FromLosses(losses, 0)
	if err != nil {
		t.Fatal(err)
	}
	losses[17], losses[1200] = 900, 80
	e, err := FromLosses(losses, 0)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Near(t, "P", e.P, plain.P, 0.01)
}

func TestFromLossesThreads(t *testing.T) {
	defer par.SetThreads(0)
	losses := drawLosses(1000, 0.2, 1)
	par.SetThreads(1)
	a, err := FromLosses(losses, 4)
	if err != nil {
		t.Fatal(err)
	}
	par.SetThreads(3)
	b, err := FromLosses(losses, 4)
	if err != nil || a.P != b.P || a.CI95 != b.CI95 || a.Separation != b.Separation || *a.Means != *b.Means {
		t.Errorf("%+v, %+v, %v", a, b, err)
	}
	if c, _ := FromLosses(losses, 5); c.P != a.P || c.CI95 == a.CI95 {
		t.Errorf("another seed: %+v, %+v", a, c)
	}
}

// Losses of one group are refused, whatever their shape.
func TestOneGroupIsNoEstimate(t *testing.T) {
	s := rng.New(1, "test/one")
	for name, draw := range map[string]func() float64{
		"exponential": s.ExpFloat64,
		"half normal": func() float64 { return math.Abs(s.NormFloat64()) },
		"log-normal":  func() float64 { return math.Exp(1.5 * s.NormFloat64()) },
		"chi-squared": func() float64 { v := s.NormFloat64(); return v * v },
		"beta":        func() float64 { return 1 - math.Pow(s.Float64(), 1./12) },
		"hinge":       func() float64 { return max(0, s.NormFloat64()) },
		"triplets":    func() float64 { return max(0, 0.2-0.6+0.3*s.NormFloat64()) },
		"two values":  func() float64 { return 1 + 1e-9*float64(s.IntN(2)) },
	} {
		losses := make([]float64, 3000)
		for i := range losses {
			losses[i] = draw()
		}
		if e, err := FromLosses(losses, 0); err == nil || !strings.Contains(err.Error(), "not of two groups") {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

func TestFromLossesErrors(t *testing.T) {
	change := func(v float64) []float64 {
		x := drawLosses(200, 0.2, 1)
		x[7] = v
		return x
	}
	for _, c := range []struct {
		losses []float64
		want   string
	}{
		{nil, "0 losses; an estimate needs 100 or more"},
		{make([]float64, 99), "99 losses"},
		{make([]float64, 200), "all 200 losses are 0"},
		{slices.Repeat([]float64{2.5}, 200), "all 200 losses are 2.5"},
		{change(math.NaN()), "the loss of item 7 is NaN"},
		{change(math.Inf(1)), "the loss of item 7 is +Inf"},
		{change(-0.1), "the loss of item 7 is -0.1"},
	} {
		if _, err := FromLosses(c.losses, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
}

// Gamma(2, 3) has density x exp(-x/3) / 9, mean 6 and variance 18.
func TestGamma(t *testing.T) {
	d := gammaOf(6, 18)
	testutil.Near(t, "shape", d.shape, 2, 1e-12)
	testutil.Near(t, "scale", d.scale, 3, 1e-12)
	testutil.Near(t, "constant", d.logNorm(), -math.Log(9), 1e-12)
	testutil.Near(t, "mean", d.mean(), 6, 1e-12)
	testutil.Near(t, "variance", d.variance(), 18, 1e-12)
	m := mixture{low: gamma{1, 1}, high: d, weight: 0.25}
	high, low := 0.25*2*math.Exp(-2./3)/9, 0.75*math.Exp(-2)
	testutil.Near(t, "upper", m.upper()(2, math.Log(2)), high/(high+low), 1e-12)
	testutil.Near(t, "separation", m.separation(), 5/math.Sqrt(9.5), 1e-12)
}
