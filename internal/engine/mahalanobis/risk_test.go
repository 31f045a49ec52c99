package mahalanobis

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
)

func TestRiskIsTheTripleSum(t *testing.T) {
	for _, c := range []struct {
		nPos, nNeg, d int
		size          float64
	}{{2, 1, 1, 1}, {2, 3, 2, 1}, {9, 7, 3, 0.4}, {13, 21, 4, 3}, {30, 17, 5, 1}} {
		p := sample(t, c.nPos, c.nNeg, c.d, 1)
		theta := somewhere(c.d, c.size, 2)
		for _, l := range allLosses(t) {
			want, gradient, _ := triples(p, l, theta)
			r := mustRisk(t, l, Exact, p)
			got := make([]float64, r.Dim())
			if v := r.ValueGrad(theta, got); math.Abs(v-want) > 1e-14*max(1, want) {
				t.Errorf("%+v %s: risk %v, want %v", c, l.Name, v, want)
			}
			if v := r.Value(theta); math.Abs(v-want) > 1e-14*max(1, want) {
				t.Errorf("%+v %s: value alone %v, want %v", c, l.Name, v, want)
			}
			if e := worst(got, gradient); e > 1e-14*max(1, norm(gradient)) {
				t.Errorf("%+v %s: gradient is off by %v of %v", c, l.Name, e, norm(gradient))
			}
		}
	}
}

// The mean over problems, of different sizes.
func TestRiskOverProblems(t *testing.T) {
	l := mustLoss(t, Logistic, 0.2, 0)
	a, b := sample(t, 6, 9, 3, 1), sample(t, 11, 4, 3, 2)
	theta := somewhere(3, 1, 3)
	va, ga, _ := triples(a, l, theta)
	vb, gb, _ := triples(b, l, theta)
	r := mustRisk(t, l, Exact, a, b)
	got := make([]float64, 6)
	if v := r.ValueGrad(theta, got); math.Abs(v-(va+vb)/2) > 1e-15 {
		t.Errorf("risk %v, want %v", v, (va+vb)/2)
	}
	for i := range got {
		if math.Abs(got[i]-(ga[i]+gb[i])/2) > 1e-15 {
			t.Errorf("gradient %v at %d, want %v", got[i], i, (ga[i]+gb[i])/2)
		}
	}
}

func TestGradientIsTheSlopeOfTheRisk(t *testing.T) {
	p := sample(t, 12, 9, 3, 5)
	for _, l := range allLosses(t) {
		if l.Name == Hinge { // has kinks between the two points
			continue
		}
		r := mustRisk(t, l, Exact, p)
		theta := somewhere(3, 1, 6)
		grad := make([]float64, r.Dim())
		r.ValueGrad(theta, grad)
		for i := range theta {
			const h = 1e-5
			x := slices.Clone(theta)
			x[i] += h
			up := r.Value(x)
			x[i] -= 2 * h
			if fd := (up - r.Value(x)) / (2 * h); math.Abs(fd-grad[i]) > 1e-9 {
				t.Errorf("%s: derivative %d is %v, differences say %v", l.Name, i, grad[i], fd)
			}
		}
	}
}

// u spreads so far that no exponentials of sums can be taken, or far enough that
// products of few factors overflow.
func TestRiskOfLargeMetrics(t *testing.T) {
	p := sample(t, 7, 6, 2, 8)
	for _, size := range []float64{20, 60, 120, 1000, 1e6} {
		theta := somewhere(2, size, 9)
		for _, name := range []string{Logistic, LogisticPrinted} {
			l := mustLoss(t, name, 0.1, 0)
			want := 0.0
			for i := range 7 {
				for j := range 7 {
					for k := range 6 {
						if i != j {
							m := Margin(p, theta, Index{int32(i), int32(j), int32(k)}, l.Zeta)
							v, _, _ := l.At(m)
							want += v / p.Triplets()
						}
					}
				}
			}
			r := mustRisk(t, l, Exact, p)
			got := make([]float64, 3)
			v := r.ValueGrad(theta, got)
			if math.Abs(v-want) > 1e-13*max(1, want) || math.Abs(r.Value(theta)-want) > 1e-13*max(1, want) {
				t.Errorf("size %v %s: risk %v, want %v", size, name, v, want)
			}
			if math.IsNaN(norm(got)) || norm(got) > 4 {
				t.Errorf("size %v %s: gradient %v", size, name, got)
			}
		}
	}
}

// One anchor, one other positive, one negative, on a line: all in closed form.
func TestRiskOnALine(t *testing.T) {
	p, err := NewProblem([]float64{0, 1}, []float64{3}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Anchor 0: u = w (1 - 9); anchor 1: u = w (1 - 4).
	const w = 0.1
	s := func(u float64) float64 { return 1 / (1 + math.Exp(-u)) }
	r := mustRisk(t, mustLoss(t, Logistic, 0, 0), Exact, p)
	g := make([]float64, 1)
	v := r.ValueGrad([]float64{w}, g)
	if want := (math.Log(1+math.Exp(-8*w)) + math.Log(1+math.Exp(-3*w))) / 2; math.Abs(v-want) > 1e-15 {
		t.Errorf("risk %v, want %v", v, want)
	}
	if want := (-8*s(-8*w) - 3*s(-3*w)) / 2; math.Abs(g[0]-want) > 1e-15 {
		t.Errorf("gradient %v, want %v", g[0], want)
	}
}

func TestRiskIsConvex(t *testing.T) {
	p := sample(t, 8, 9, 3, 4)
	for _, l := range allLosses(t) {
		r := mustRisk(t, l, Exact, p)
		for seed := range uint64(10) {
			a, b := somewhere(3, 2, seed), somewhere(3, 2, 100+seed)
			middle, ga := make([]float64, 6), make([]float64, 6)
			slope := 0.0
			va, vb := r.ValueGrad(a, ga), r.Value(b)
			for i := range middle {
				middle[i] = (a[i] + b[i]) / 2
				slope += ga[i] * (b[i] - a[i])
			}
			if vm := r.Value(middle); vm > (va+vb)/2+1e-12 {
				t.Errorf("%s: %v between %v and %v", l.Name, vm, va, vb)
			}
			if vb < va+slope-1e-12 {
				t.Errorf("%s: %v is below its tangent %v", l.Name, vb, va+slope)
			}
		}
	}
}

func TestZeroOneIsTheCount(t *testing.T) {
	for seed := range uint64(5) {
		p := sample(t, 11, 8, 3, seed)
		theta := somewhere(3, 1, seed)
		for _, zeta := range []float64{0, 0.2, -0.3} {
			_, _, want := triples(p, Loss{Name: Logistic, Zeta: zeta}, theta)
			if got := ZeroOne(p, theta, zeta); math.Abs(got-want) > 1e-15 {
				t.Errorf("seed %d zeta %v: %v, want %v", seed, zeta, got, want)
			}
		}
	}
	// Ties are errors: all points of a metric 0, and a negative equal to a positive.
	p := sample(t, 4, 3, 2, 1)
	if got := ZeroOne(p, make([]float64, 3), 0); got != 1 {
		t.Errorf("of w = 0 %v, want 1", got)
	}
	copy(p.neg(0), p.pos(1))
	for i := 4; i < len(p.Negative); i++ { // the others are far away
		p.Negative[i] = 100
	}
	p.Negative[2], p.Negative[3] = 100, 100
	// Negative 0 is positive 1: of each anchor but 1 it is as near as positive 1, so
	// that (i, 1, 0) is an error, and of anchor 1 it is nearer than all.
	if got, least := ZeroOne(p, Identity(2), 0), (3.0+3)/36; got < least {
		t.Errorf("%v, at least %v are ties or worse", got, least)
	}
}

func TestBitsDoNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	p := sample(t, 70, 20, 3, 3)
	theta := somewhere(3, 1, 3)
	for _, l := range allLosses(t) {
		for _, s := range []Sums{Exact, Interpolated, Auto} {
			var values [2]float64
			var grads [2][]float64
			for n, threads := range []int{1, 3} {
				par.SetThreads(threads)
				r := mustRisk(t, l, s, p)
				grads[n] = make([]float64, r.Dim())
				values[n] = r.ValueGrad(theta, grads[n])
			}
			if values[0] != values[1] || !slices.Equal(grads[0], grads[1]) {
				t.Errorf("%s %s: 1 and 3 threads differ", l.Name, s)
			}
		}
	}
}

func TestRiskRefuses(t *testing.T) {
	p, other := sample(t, 3, 2, 2, 1), sample(t, 3, 2, 3, 1)
	l := mustLoss(t, Logistic, 0, 0)
	for _, c := range []struct {
		problems []*Problem
		l        Loss
		s        Sums
		want     string
	}{
		{nil, l, Exact, "no points"},
		{[]*Problem{p, other}, l, Exact, "class 1 have 3 dimensions"},
		{[]*Problem{p}, l, "fast", `unknown sums "fast"`},
		{[]*Problem{p}, Loss{Name: "soft"}, Exact, `unknown loss "soft"`},
	} {
		if _, err := NewRisk(c.problems, c.l, c.s); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
