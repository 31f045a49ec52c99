package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
)

// A triplet worked by hand: d(a,p) = 5, d(a,n) = 13 or 4.
func TestTripletByHand(t *testing.T) {
	z, err := array.Of([]float32{0, 0, 3, 4, 5, 12, 0, 4}, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Triplets: []Triplet{{0, 1, 2}, {0, 1, 3}}}
	for _, c := range []struct {
		o    TripletOptions
		want Result
	}{
		{TripletOptions{1, Euclidean, Hinge, Mean, 0}, Result{1, 2, 1, 5, 8.5}},
		{TripletOptions{1, Euclidean, Hinge, Sum, 0}, Result{2, 2, 1, 5, 8.5}},
		{TripletOptions{1, Euclidean, Hinge, MeanNonzero, 0}, Result{2, 2, 1, 5, 8.5}},
		{TripletOptions{1, Squared, Hinge, Sum, 1e-6}, Result{10, 2, 1, 25, 92.5}},
		{TripletOptions{0, Euclidean, Soft, Sum, 0}, Result{math.Log1p(math.Exp(-8)) + math.Log1p(math.Exp(1)), 2, 2, 5, 8.5}},
	} {
		got, err := make1(t, c.o).Eval(z, ts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Loss-c.want.Loss) > 1e-12 || got.Active != c.want.Active || got.Positive != c.want.Positive || got.Negative != c.want.Negative {
			t.Errorf("%+v: got %+v, want %+v", c.o, got, c.want)
		}
	}
}

func TestTripletIdenticalPoints(t *testing.T) {
	z := array.New(3, 4)
	for i := range z.Data {
		z.Data[i] = float32(i%4) + 1
	}
	for _, c := range []struct {
		eps  float64
		want float32 // gradient at the positive: -eps/d = -1/sqrt(4) on each coordinate
	}{{0, 0}, {1e-6, -0.5}} {
		o := TripletDefaults()
		o.Eps = c.eps
		grad := array.New(3, 4)
		res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, grad)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(res.Loss-0.2) > 1e-12 || res.Active != 1 {
			t.Errorf("eps %v: %+v", c.eps, res)
		}
		for k := range 4 {
			if g := grad.Row(1)[k]; math.Abs(float64(g-c.want)) > 1e-6 {
				t.Errorf("eps %v: gradient at the positive %v, want %v", c.eps, g, c.want)
			}
		}
	}
}

func TestTripletInactive(t *testing.T) {
	// All inactive: the positive is the anchor, the negative far away.
	z, _ := array.Of([]float32{0, 0, 9}, 3, 1)
	for _, red := range everyReduction() {
		o := TripletDefaults()
		o.Reduce = red
		grad := z.Clone()
		res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {1, 0, 2}}}, grad)
		if err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 2 {
			t.Fatalf("%s: %+v, %v", red, res, err)
		}
		for _, v := range grad.Data {
			if v != 0 {
				t.Fatalf("%s: gradient is not zero", red)
			}
		}
	}
}

func TestTripletSoftDoesNotOverflow(t *testing.T) {
	z, _ := array.Of([]float32{0, 3e4, 0, -3e4}, 4, 1)
	grad := array.New(4, 1)
	o := TripletOptions{0, Squared, Soft, Sum, 0}
	res, err := make1(t, o).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}, {0, 2, 3}}}, grad)
	if err != nil || res.Loss != 9e8 || res.Active != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
}
