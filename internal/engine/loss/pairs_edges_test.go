package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
)

// d = 5 (similar), 0.6 (different, m = 1): 25 and 0.16; cos = 0.6 against 0.5.
func TestPairLossesByHand(t *testing.T) {
	z, err := array.Of([]float32{0, 0, 3, 4, 3, 4.5, 0, 2}, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Pairs: []Pair{{0, 1, true}, {1, 2, false}, {0, 1, false}}}
	o := ContrastiveDefaults()
	o.Eps = 0
	l, err := NewContrastive(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Eval(z, ts, nil)
	if want := (Result{25.25 / 3, 3, 2, 5, 2.75}); err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if l.Threshold() != 0.5 || l.Margin() != 1 {
		t.Errorf("threshold %v, margin %v", l.Threshold(), l.Margin())
	}
	c, err := NewCosine(CosineDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if got, err = c.Eval(z, &Tuples{Pairs: []Pair{{1, 3, true}, {3, 1, false}}}, nil); err != nil || math.Abs(got.Loss-(0.2+0.3)/2) > 1e-12 || got.Active != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
	if math.Abs(c.o.PairRule().At-math.Cos(math.Pi/6)) > 1e-15 || c.Margin() != 0.5 {
		t.Errorf("threshold %v, margin %v", c.o.PairRule().At, c.Margin())
	}
}

func TestPairLossesInactive(t *testing.T) {
	// Satisfied: equal similar pairs, different ones far apart.
	z, _ := array.Of([]float32{1, 0, 1, 0, -9, 0.5}, 3, 2)
	ts := &Tuples{Pairs: []Pair{{0, 1, true}, {0, 2, false}, {2, 1, false}}}
	for _, red := range everyReduction() {
		for _, c := range []pairCase{contrastiveCase(ContrastiveOptions{1, red, 1e-6}), cosineCase(CosineOptions{0.5, Cosine, red, 0})} {
			grad := z.Clone()
			res, err := build(t, c).Eval(z, ts, grad)
			if err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 3 {
				t.Fatalf("%s: %+v, %v", c.name, res, err)
			}
			for _, v := range grad.Data {
				if v != 0 {
					t.Fatalf("%s: gradient is not zero", c.name)
				}
			}
		}
	}
}

// At x = y the contrastive gradient is 0, and tiny distances do not overflow it.
func TestContrastiveNearZero(t *testing.T) {
	for _, eps := range []float64{0, 1e-6} {
		o := ContrastiveDefaults()
		o.Eps = eps
		l, err := NewContrastive(o)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := array.Of([]float32{1, 2, 1, 2, 1e-30, 0, 0, 0}, 4, 2)
		grad := array.New(4, 2)
		res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, true}, {0, 1, false}, {2, 3, false}}}, grad)
		if err != nil || math.Abs(res.Loss-2*math.Pow(1-eps, 2)/3) > 1e-12 || res.Active != 1 {
			t.Fatalf("eps %v: %+v, %v", eps, res, err)
		}
		for k, v := range grad.Data {
			want := 0.0
			if eps == 0 && (k == 4 || k == 6) { // unit direction: -2 m/3, and back
				want = -2.0 / 3
				if k == 6 {
					want = -want
				}
			}
			if math.Abs(float64(v)-want) > 1e-6 {
				t.Errorf("eps %v: gradient %d is %v, want %v", eps, k, v, want)
			}
		}
	}
}

// A zero vector: cosine 0; gradient 0 without eps, finite with it.
func TestCosineZeroVector(t *testing.T) {
	for _, eps := range []float64{0, 1e-12} {
		o := CosineDefaults()
		o.Eps, o.Reduce = eps, Sum
		l, err := NewCosine(o)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := array.Of([]float32{0, 0, 3, 4, 0, 0}, 3, 2)
		grad := array.New(3, 2)
		res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, true}, {0, 2, true}}}, grad)
		if err != nil || res.Loss != 2 {
			t.Fatalf("eps %v: %+v, %v", eps, res, err)
		}
		want, active := []float32{0, 0, 0, 0, 0, 0}, 0
		if eps > 0 {
			want, active = []float32{-6e5, -8e5, 0, 0, 0, 0}, 2
		}
		if res.Active != active {
			t.Errorf("eps %v: %d active", eps, res.Active)
		}
		for k, v := range grad.Data {
			if math.Abs(float64(v-want[k])) > 1 {
				t.Errorf("eps %v: gradient %v, want %v", eps, grad.Data, want)
				break
			}
		}
	}
	// Huge and tiny embeddings neither overflow nor vanish.
	l, _ := NewCosine(CosineOptions{0, Cosine, Sum, 0})
	z, _ := array.Of([]float32{3e38, 0, 3e38, 3e38, 1e-38, 0, 1e-38, 1e-38}, 4, 2)
	res, err := l.Eval(z, &Tuples{Pairs: []Pair{{0, 1, false}, {2, 3, false}, {0, 3, false}}}, array.New(4, 2))
	if err != nil || math.Abs(res.Loss-3/math.Sqrt2) > 1e-6 {
		t.Errorf("%+v, %v", res, err)
	}
}
