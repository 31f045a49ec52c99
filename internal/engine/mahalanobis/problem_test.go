package mahalanobis

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestProblemRefuses(t *testing.T) {
	two, one := []float64{0, 0, 0.5, 0}, []float64{0, 1}
	for _, c := range []struct {
		pos, neg []float64
		d        int
		radius   float64
		want     string
	}{
		{two, one, 0, 0, "0 dimensions"},
		{two[:3], one, 2, 0, "not whole rows"},
		{two[:2], one, 2, 0, "n+ = 1"},
		{nil, one, 2, 0, "n+ = 0"},
		{two, nil, 2, 0, "n- = 0"},
		{two, one, 2, math.NaN(), "radius is NaN"},
		{two, one, 2, -1, "radius is -1"},
		{two, one, 2, math.Inf(1), "radius is +Inf"},
		{[]float64{0, 0, 0, math.NaN()}, one, 2, 1, "positives row 1 column 1 is NaN"},
		{two, []float64{math.Inf(-1), 0}, 2, 0, "negatives row 0 column 0 is -Inf"},
		{two, []float64{0, 1, 1, 1}, 2, 1, "negatives row 1 has length 1.41421, outside the ball of radius B = 1"},
		{two, []float64{1e200, 1e200}, 2, 1, "negatives row 0 has length 1.41421e+200"},
	} {
		if _, err := NewProblem(c.pos, c.neg, c.d, c.radius); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	p, err := NewProblem(two, append(one, 1, 1), 2, 0)
	if err != nil || p.NPos() != 2 || p.NNeg() != 2 || p.Triplets() != 4 || math.Abs(p.Radius()-math.Sqrt2) > 1e-15 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := NewProblem(two, []float64{math.Sqrt(0.5), math.Sqrt(0.5)}, 2, 1); err != nil {
		t.Errorf("a point on the sphere: %v", err)
	}
}

// svec keeps inner products: <svec a, svec b> = tr(a b).
func TestSvec(t *testing.T) {
	a := []float64{1, 2, 3, 2, 5, -1, 3, -1, 4}
	b := []float64{0, 1, 7, 1, 2, 2, 7, 2, -3}
	want, got := 0.0, 0.0
	x, y := Svec(a, 3), Svec(b, 3)
	for i := range a {
		want += a[i] * b[i]
	}
	for i := range x {
		got += x[i] * y[i]
	}
	if math.Abs(got-want) > 1e-13 {
		t.Errorf("inner product %v, want %v", got, want)
	}
	order := []float64{1, 2 * math.Sqrt2, 3 * math.Sqrt2, 5, -math.Sqrt2, 4}
	if worst(x, order) > 1e-15 {
		t.Errorf("order %v, want %v", x, order)
	}
	if worst(Smat(x, 3), a) > 1e-15 {
		t.Errorf("and back %v", Smat(x, 3))
	}
	if want := []float64{1, 0, 0, 1, 0, 1}; !slices.Equal(Identity(3), want) {
		t.Errorf("identity %v", Identity(3))
	}
	if lone := Svec([]float64{1, 4, 0, 3}, 2); math.Abs(lone[1]-2*math.Sqrt2) > 1e-15 {
		t.Errorf("of a matrix that is not symmetric %v", lone)
	}
}

func TestDrawIndices(t *testing.T) {
	const n = 60_000
	list := DrawIndices(4, 3, n, 7, "a")
	seen := map[Index]int{}
	for _, x := range list {
		if x.I == x.J || min(x.I, x.J, x.K) < 0 || max(x.I, x.J) > 3 || x.K > 2 {
			t.Fatalf("%+v", x)
		}
		seen[x]++
	}
	// 36 triplets, each with mean n/36 and standard deviation 40.
	if len(seen) != 36 {
		t.Errorf("%d different triplets of 36", len(seen))
	}
	for x, c := range seen {
		if math.Abs(float64(c)-n/36.0) > 5*math.Sqrt(n/36.0) {
			t.Errorf("%+v drawn %d times", x, c)
		}
	}
	if !slices.Equal(list[:100], DrawIndices(4, 3, 100, 7, "a")) {
		t.Error("the beginning depends on the length")
	}
	if slices.Equal(list[:100], DrawIndices(4, 3, 100, 8, "a")) || slices.Equal(list[:100], DrawIndices(4, 3, 100, 7, "b")) {
		t.Error("another seed or stream gives the same")
	}
}

func TestMeanLossOverAllIsTheRisk(t *testing.T) {
	p := sample(t, 5, 4, 3, 2)
	theta := somewhere(3, 1, 2)
	var all []Index
	for i := range int32(5) {
		for j := range int32(5) {
			for k := range int32(4) {
				if i != j {
					all = append(all, Index{i, j, k})
				}
			}
		}
	}
	for _, l := range allLosses(t) {
		want, _, _ := triples(p, l, theta)
		if got := MeanLoss(p, l, theta, all); math.Abs(got-want) > 1e-14 {
			t.Errorf("%s: %v, want %v", l.Name, got, want)
		}
		each, sum := make([]float64, len(all)), 0.0
		losses(p, l, theta, all, each)
		for _, v := range each {
			sum += v / float64(len(all))
		}
		if math.Abs(sum-want) > 1e-14 {
			t.Errorf("%s: mean of losses %v, want %v", l.Name, sum, want)
		}
	}
	if got := MeanLoss(p, mustLoss(t, Logistic, 0, 0), theta, nil); got != 0 {
		t.Errorf("of no triplets %v", got)
	}
}

// losses puts the loss of each of the triplets t into out, of the same length.
func losses(p *Problem, l Loss, theta []float64, t []Index, out []float64) {
	for n, index := range t {
		out[n], _, _ = l.At(Margin(p, theta, index, l.Zeta))
	}
}
