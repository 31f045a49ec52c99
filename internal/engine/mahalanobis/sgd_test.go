package mahalanobis

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// SGD with whole matrices, from eq. 3.
func plainSGD(p *Problem, l Loss, idx []Index, eta float64, psd bool) []float64 {
	d := p.D
	w := make([]float64, d*d)
	for _, t := range idx {
		u := l.Zeta
		m := make([]float64, d*d)
		for r := range d {
			for c := range d {
				x := p.pos(int(t.I))
				a := (x[r] - p.pos(int(t.J))[r]) * (x[c] - p.pos(int(t.J))[c])
				b := (x[r] - p.neg(int(t.K))[r]) * (x[c] - p.neg(int(t.K))[c])
				m[r*d+c] = a - b
				u += w[r*d+c] * m[r*d+c]
			}
		}
		_, s := plain(l, u)
		for e := range w {
			w[e] -= eta * s * m[e]
		}
		if psd {
			theta := Svec(w, d)
			ProjectPSD(theta, d)
			w = Smat(theta, d)
		}
	}
	return Svec(w, d)
}

func TestSGDIsEquation3(t *testing.T) {
	p := sample(t, 9, 7, 3, 4)
	idx := DrawIndices(9, 7, 40, 1, "test")
	for _, l := range allLosses(t) {
		for _, psd := range []bool{false, true} {
			const c = 0.3
			got, err := SGD(t.Context(), p, l, idx, SGDOptions{C: c, Radius: 1, PSD: psd, AllowLarge: true})
			if err != nil {
				t.Fatal(err)
			}
			if want := plainSGD(p, l, idx, c/math.Sqrt(40), psd); worst(got, want) > 1e-13 {
				t.Errorf("%s, psd %v: %v, want %v", l.Name, psd, got, want)
			}
		}
	}
}

func TestSGDStepAndDefaults(t *testing.T) {
	p := sample(t, 9, 7, 3, 4)
	l := mustLoss(t, Logistic, 0, 0)
	// c = 2/alpha = 1/(2B^4), or 1/(32B^4) of the paper; T = n+ + n- = 16.
	for which, want := range map[string]float64{"": 0.5, Tight: 0.5, Paper: 1.0 / 32} {
		c, eta, err := SGDOptions{Radius: 1, Constants: which}.Step([]*Problem{p}, l, 16)
		if err != nil || c != want || eta != want/4 {
			t.Errorf("%q: c %v, eta %v, %v", which, c, eta, err)
		}
	}
	got, err := SGD(t.Context(), p, l, nil, SGDOptions{Seed: 5, Radius: 1})
	if err != nil {
		t.Fatal(err)
	}
	idx := DrawIndices(9, 7, 16, 5, SGDStream)
	if want, _ := SGD(t.Context(), p, l, idx, SGDOptions{C: 0.5, Radius: 1}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// w_1 is the start; no steps leave it.
	if got, err = SGD(t.Context(), p, l, []Index{}, SGDOptions{Start: Identity(3)}); err != nil || !slices.Equal(got, Identity(3)) {
		t.Errorf("%v, %v", got, err)
	}
	// A replaced point that no triplet has changes nothing.
	few := SGDOptions{Seed: 5, Radius: 1, Steps: 3}
	want := mustSGD(t, p, l, few)
	other := &Problem{slices.Clone(p.Positive), p.Negative, 3}
	used := map[int32]bool{}
	for _, x := range DrawIndices(9, 7, 3, 5, SGDStream) {
		used[x.I], used[x.J] = true, true
	}
	for i := range int32(9) {
		if !used[i] {
			copy(other.pos(int(i)), []float64{1, 0, 0})
		}
	}
	if again := mustSGD(t, other, l, few); !slices.Equal(again, want) {
		t.Errorf("%v, want %v", again, want)
	}
}

func mustSGD(t *testing.T, p *Problem, l Loss, o SGDOptions) []float64 {
	t.Helper()
	theta, err := SGD(t.Context(), p, l, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return theta
}

// It learns: the 0-1 error falls below that of the Euclidean metric, and the printed
// sign makes it worse than chance.
func TestSGDLearns(t *testing.T) {
	p := sample(t, 60, 60, 3, 9)
	o := SGDOptions{Steps: 4000, Seed: 1, C: 20, AllowLarge: true}
	learned := ZeroOne(p, mustSGD(t, p, mustLoss(t, Logistic, 0, 0), o), 0)
	printed := ZeroOne(p, mustSGD(t, p, mustLoss(t, LogisticPrinted, 0, 0), o), 0)
	if euclid := ZeroOne(p, Identity(3), 0); !(learned < euclid-0.05) || !(printed > 0.5) {
		t.Errorf("learned %v, printed %v, Euclidean %v", learned, printed, euclid)
	}
}

func TestSGDOverDrawsClasses(t *testing.T) {
	l := mustLoss(t, Logistic, 0, 0)
	a, b := sample(t, 5, 4, 2, 1), sample(t, 3, 7, 2, 2)
	one, err := sgdOver(t.Context(), []*Problem{a}, l, SGDOptions{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	two, err := sgdOver(t.Context(), []*Problem{a, b}, l, SGDOptions{Seed: 3})
	if err != nil || slices.Equal(one, two) {
		t.Errorf("%v, %v", two, err)
	}
	// Two copies of one class are that class with other draws: still a step of the
	// same length from 0 for T = 1.
	single, err := sgdOver(t.Context(), []*Problem{a, a}, l, SGDOptions{Seed: 3, Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for i := range int32(5) {
		for j := range int32(5) {
			for k := range int32(4) {
				if i != j {
					want, _ := SGD(t.Context(), a, l, []Index{{i, j, k}}, SGDOptions{})
					found = found || slices.Equal(want, single)
				}
			}
		}
	}
	if !found {
		t.Errorf("%v is no step of a triplet", single)
	}
}

func TestSGDRefuses(t *testing.T) {
	p := sample(t, 4, 3, 2, 1)
	l, hinge := mustLoss(t, Logistic, 0, 0), mustLoss(t, Hinge, 1, 0)
	one := []Index{{0, 1, 0}}
	for _, c := range []struct {
		l    Loss
		idx  []Index
		o    SGDOptions
		want string
	}{
		{l, one, SGDOptions{C: 0.6, Radius: 1}, "step eta = 0.6 is above 2/alpha = 0.5 (B = 1, tight constants)"},
		{l, one, SGDOptions{C: 0.04, Radius: 1, Constants: Paper}, "above 2/alpha = 0.03125"},
		{l, one, SGDOptions{C: -1}, "c of the step c / sqrt(T) is -1"},
		{l, one, SGDOptions{C: math.NaN()}, "is NaN"},
		{l, one, SGDOptions{Radius: math.Inf(1)}, "radius B is +Inf"},
		{l, one, SGDOptions{Constants: "none"}, `unknown constants "none"`},
		{hinge, one, SGDOptions{}, "hinge is not smooth (alpha is infinite), so that the step has no limit"},
		{hinge, one, SGDOptions{C: 0.1}, "hinge is not smooth (alpha is infinite): no step has eta <= 2/alpha"},
		{l, []Index{{0, 1, 0}, {2, 2, 0}}, SGDOptions{}, "triplet 1 is (2, 2, 0)"},
		{l, []Index{{0, 4, 0}}, SGDOptions{}, "triplet 0 is (0, 4, 0)"},
		{l, []Index{{0, 1, 3}}, SGDOptions{}, "triplet 0 is (0, 1, 3)"},
		{l, one, SGDOptions{Start: []float64{1}}, "the start has 1 numbers, svec of w has 3"},
		{l, one, SGDOptions{Start: []float64{1, 2, math.NaN()}}, "number 2 of the start is NaN"},
		{l, nil, SGDOptions{Steps: -1}, "-1 steps"},
	} {
		if _, err := SGD(t.Context(), p, c.l, c.idx, c.o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := sgdOver(t.Context(), nil, l, SGDOptions{Steps: 3}); !errors.Is(err, ErrInput) {
		t.Errorf("no problems: %v", err)
	}
	squares := mustLoss(t, LeastSquares, 1, 0)
	long := DrawIndices(4, 3, 2000, 1, "x")
	if _, err := SGD(t.Context(), p, squares, long, SGDOptions{C: 1e6, AllowLarge: true}); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "became infinite or NaN at step") {
		t.Errorf("a step far too large: %v", err)
	}
}

func TestProjectPSD(t *testing.T) {
	// Eigenvalues 3 and -1 along (1,1) and (1,-1).
	theta := Svec([]float64{1, 2, 2, 1}, 2)
	if mass := ProjectPSD(theta, 2); math.Abs(mass-1) > 1e-14 {
		t.Errorf("mass %v, want 1", mass)
	}
	if want := []float64{1.5, 1.5, 1.5, 1.5}; worst(Smat(theta, 2), want) > 1e-14 {
		t.Errorf("%v, want %v", Smat(theta, 2), want)
	}
	same := Svec([]float64{2, 1, 1, 3}, 2)
	if before := slices.Clone(same); ProjectPSD(same, 2) != 0 || !slices.Equal(same, before) {
		t.Error("a positive matrix is changed")
	}
}

func TestFactor(t *testing.T) {
	w := []float64{4, 1, 0, 1, 3, 0.5, 0, 0.5, -2}
	theta := Svec(w, 3)
	l, negative, err := Factor(theta, 3)
	if err != nil {
		t.Fatal(err)
	}
	mass := ProjectPSD(theta, 3)
	plus := Smat(theta, 3)
	for r := range 3 {
		for c := range 3 {
			sum := 0.0
			for k := range 3 {
				sum += l[k*3+r] * l[k*3+c]
			}
			if math.Abs(sum-plus[r*3+c]) > 1e-14 {
				t.Errorf("(l^T l)[%d,%d] = %v, want %v", r, c, sum, plus[r*3+c])
			}
		}
	}
	// The trace is 5, so that sizes add up to 5 + 2 mass.
	if want := mass / (5 + 2*mass); math.Abs(negative-want) > 1e-14 {
		t.Errorf("share %v, want %v", negative, want)
	}
	if norm(l[6:]) != 0 || norm(l[:3]) < norm(l[3:6]) {
		t.Errorf("rows %v", l)
	}
	for _, bad := range [][]float64{{-1, 0, -1}, {0, 0, 0}, {1, math.NaN(), 1}, {1}} {
		if _, _, err := Factor(bad, 2); !errors.Is(err, ErrInput) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
