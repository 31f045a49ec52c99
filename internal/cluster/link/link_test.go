package link

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/testutil"
)

// The formulas of the three links, naively.
func TestLinksAgainstFormulas(t *testing.T) {
	fitted := Link{Kind: KindFitted, On: OnDistance, Intercept: 2, Slope: -1.5}
	for _, d2 := range []float64{0, .01, .3, .5, 1, 1.7, 4} {
		for _, c := range []struct {
			l     Link
			logit float64 // of P(cut)
		}{
			{Squared(.8, 3), 3 * (d2 - .64)},
			{Distance(.8, 3), 3 * (math.Sqrt(d2) - .8)},
			{fitted, -2 + 1.5*math.Sqrt(d2)},
			{Link{Kind: KindFitted, On: OnSquared, Intercept: 2, Slope: -1.5}, -2 + 1.5*d2},
		} {
			for _, clip := range []float64{0, .001, .2} {
				for _, bias := range []float64{0, .5, .3, .9} {
					l := c.l
					l.Clip, l.Bias = clip, bias
					p := clip + (1-2*clip)/(1+math.Exp(-c.logit))
					b := bias
					if b == 0 {
						b = .5
					}
					w := math.Log((1-p)/p) + math.Log((1-b)/b)
					if got := l.Cut(d2); !testutil.WithinMixed(got, p, 1e-14) {
						t.Errorf("%+v at d^2 = %v: P(cut) %v, want %v", l, d2, got, p)
					}
					if got := l.Cost(d2); !testutil.WithinMixed(got, w, 1e-12) {
						t.Errorf("%+v at d^2 = %v: cost %v, want %v", l, d2, got, w)
					}
				}
			}
		}
	}
}

func TestNaturalScale(t *testing.T) {
	alpha, beta, eps := 1.2, .4, .02
	l := Squared(math.Sqrt((alpha+beta)/2), NaturalScale(alpha, beta, eps))
	if p := l.Cut(alpha); !testutil.WithinMixed(p, 1-eps, 1e-14) {
		t.Errorf("P(cut) at alpha: %v, want %v", p, 1-eps)
	}
	if p := l.Cut(beta); !testutil.WithinMixed(p, eps, 1e-14) {
		t.Errorf("P(cut) at beta: %v, want %v", p, eps)
	}
	for _, bad := range [][3]float64{{1, 1, .1}, {1, 2, .1}, {2, 1, 0}, {2, 1, .5}, {math.NaN(), 1, .1}} {
		if s := NaturalScale(bad[0], bad[1], bad[2]); !math.IsNaN(s) {
			t.Errorf("natural scale of %v: %v, want NaN", bad, s)
		}
	}
}

// As elf clips: no cost beyond ln 999, whatever the distance.
func TestClipBoundsCosts(t *testing.T) {
	l := Squared(1, 1e6)
	l.Clip = .001
	for d2, want := range map[float64]float64{0: math.Log(999), 1: 0, 1e9: -math.Log(999)} {
		if w := l.Cost(d2); !testutil.WithinMixed(w, want, 1e-12) {
			t.Errorf("cost at d^2 = %v: %v, want %v", d2, w, want)
		}
	}
	l.Clip = 0
	if w := l.Cost(1e9); w != 1e6*(1-1e9) {
		t.Errorf("without clip: %v", w)
	}
}

func TestThresholdIsWhereTheCostIsZero(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	zeros := 0
	for range 500 {
		l := []Link{
			Squared(.2+r.Float64(), .5+5*r.Float64()),
			Distance(.2+r.Float64(), .5+5*r.Float64()),
			{Kind: KindFitted, On: OnSquared, Intercept: 3*r.Float64() - .5, Slope: -.1 - r.Float64()},
			{Kind: KindFitted, On: OnDistance, Intercept: 3*r.Float64() - .5, Slope: -.1 - r.Float64()},
		}[r.IntN(4)]
		l.Clip = []float64{0, .001, .1}[r.IntN(3)]
		l.Bias = []float64{0, .5, .05, .2, .7, .95}[r.IntN(6)]
		d := l.Threshold()
		switch {
		case math.IsNaN(d):
			if l.Cost(0) > 0 {
				t.Errorf("%+v has no threshold, but d = 0 costs %v", l, l.Cost(0))
			}
		case math.IsInf(d, 1):
			if l.Cost(1e6) <= 0 {
				t.Errorf("%+v joins all, but d = 1000 costs %v", l, l.Cost(1e6))
			}
		default:
			zeros++
			if w := l.Cost(d * d); math.Abs(w) > 1e-9 {
				t.Errorf("%+v: the cost at its threshold %v is %v", l, d, w)
			}
			if lower, upper := l.Cost(d*d*.99), l.Cost(d*d*1.01); lower <= 0 || upper >= 0 {
				t.Errorf("%+v: costs %v below and %v above the threshold %v", l, lower, upper, d)
			}
		}
	}
	if zeros < 200 {
		t.Errorf("only %d of 500 links had a threshold", zeros)
	}
	if d := Squared(.7, 3).Threshold(); d != .7 {
		t.Errorf("threshold %v, want what was given", d)
	}
}

func TestFactors(t *testing.T) {
	biased := Squared(.9, 2.5)
	biased.Bias = .3
	fitted := Link{Kind: KindFitted, On: OnSquared, Intercept: 2, Slope: -1.5, Bias: .6}
	for _, l := range []Link{Squared(.8, 3), biased, fitted} {
		tau, scale, ok, why := l.Factors()
		if !ok {
			t.Fatalf("%+v does not factorize: %s", l, why)
		}
		for _, d2 := range []float64{0, .2, 1, 3.5} {
			if got, want := scale*(tau*tau-d2), l.Cost(d2); !testutil.WithinMixed(got, want, 1e-12) {
				t.Errorf("%+v at d^2 = %v: %v from factors, cost %v", l, d2, got, want)
			}
		}
	}
	clipped, all := Squared(.8, 3), Squared(.5, 1)
	clipped.Clip = .001
	all.Bias = .9
	for _, c := range []struct {
		l    Link
		word string
	}{
		{Distance(.8, 3), "distance d"},
		{Link{Kind: KindFitted, On: OnDistance, Intercept: 2, Slope: -1}, "distance d"},
		{clipped, "clipped at 0.001"},
		{all, "no distance is small enough"},
		{Link{Kind: KindFitted, On: OnSquared, Intercept: -1, Slope: -1}, "no distance is small enough"},
	} {
		if _, _, ok, why := c.l.Factors(); ok || !strings.Contains(why, c.word) {
			t.Errorf("%+v: factors %v, because %q, want %q", c.l, ok, why, c.word)
		}
	}
}

func TestCheck(t *testing.T) {
	nan := math.NaN()
	with := func(clip, bias float64) Link { l := Squared(1, 1); l.Clip, l.Bias = clip, bias; return l }
	for _, l := range []Link{
		{}, {Kind: "cosine"}, Squared(0, 1), Squared(-1, 1), Squared(nan, 1), Squared(1, 0), Distance(1, math.Inf(1)),
		{Kind: KindFitted, On: "d", Slope: -1}, {Kind: KindFitted, On: OnSquared, Slope: 1}, {Kind: KindFitted, On: OnSquared, Intercept: nan, Slope: -1},
		with(.5, .5), with(-.1, .5), with(nan, .5), with(0, 1), with(0, -1), with(0, nan),
	} {
		if l.Check() == nil {
			t.Errorf("%+v passes", l)
		}
	}
	for _, l := range []Link{Squared(1, 1), with(.001, 0), with(0, .99), {Kind: KindFitted, On: OnDistance, Intercept: -3, Slope: -1}} {
		if err := l.Check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// cloud is points around a few centers, some of them twice.
func cloud(n, d int, offset float32, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 3))
	x := make([]float32, n*d)
	for i := range n {
		for j := range d {
			x[i*d+j] = offset + float32(i%3) + float32(r.NormFloat64())*.3
		}
		if i%7 == 6 {
			copy(x[i*d:(i+1)*d], x[(i-1)*d:])
		}
	}
	return x
}

func TestCostsAgainstLoops(t *testing.T) {
	n, d := 83, 9
	clipped := Distance(.9, 4)
	clipped.Clip = .01
	for _, offset := range []float32{0, 1000} {
		x := cloud(n, d, offset, 4)
		for _, l := range []Link{Squared(.9, 4), Distance(.9, 4), clipped} {
			c, err := Costs(context.Background(), l, x, n, d)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					var d2 float64
					for k := range d {
						e := float64(x[i*d+k]) - float64(x[j*d+k])
						d2 += e * e
					}
					want := l.Cost(d2)
					if i == j {
						want = 0
					}
					if got := float64(c[i*n+j]); !testutil.WithinMixed(got, want, 2e-4) || c[i*n+j] != c[j*n+i] {
						t.Fatalf("%s, offset %v: cost of %d and %d is %v (%v), want %v", l.Kind, offset, i, j, got, c[j*n+i], want)
					}
				}
			}
		}
	}
}

func TestCostsThreads(t *testing.T) {
	defer par.SetThreads(0)
	x := cloud(200, 8, 0, 5)
	var first []float32
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		c, err := Costs(context.Background(), Distance(1, 2), x, 200, 8)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = c
		} else if !slices.Equal(c, first) {
			t.Errorf("%d threads change costs", threads)
		}
	}
}

func TestCostsInput(t *testing.T) {
	x := cloud(6, 2, 0, 1)
	bad := slices.Clone(x)
	bad[5] = float32(math.NaN())
	huge := slices.Clone(x)
	huge[0] = 1e30
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		l    Link
		x    []float32
		n, d int
		word string
	}{
		{"no rows", nil, Squared(1, 1), nil, 0, 2, "no rows"},
		{"no columns", nil, Squared(1, 1), nil, 3, 0, "0 dimensions"},
		{"sizes", nil, Squared(1, 1), x, 5, 2, "numbers, got"},
		{"NaN", nil, Squared(1, 1), bad, 6, 2, "row 2 column 1 is NaN"},
		{"link", nil, Squared(0, 1), x, 6, 2, "must be positive"},
		{"overflow", nil, Squared(1, 1), huge, 6, 2, "the cost of rows 0 and 1 is"},
		{"too many", nil, Squared(1, 1), make([]float32, MostPoints+1), MostPoints + 1, 1, "factored solver"},
		{"cancelled", stopped, Squared(1, 1), x, 6, 2, "canceled"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		if _, err := Costs(ctx, c.l, c.x, c.n, c.d); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want %q", c.name, err, c.word)
		}
	}
	if c, err := Costs(context.Background(), Squared(1, 1), x[:2], 1, 2); err != nil || len(c) != 1 || c[0] != 0 {
		t.Errorf("one point: %v, %v", c, err)
	}
}
