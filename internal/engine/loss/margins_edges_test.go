package loss

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
)

// The three losses of one triplet at alpha 1, beta 0.5: a at 0, p and n on a line.
func TestMarginLossesByHand(t *testing.T) {
	for _, c := range []struct {
		ap, an     float64 // squared distances
		l1, l2, l3 float64
		active     [3]int
	}{
		{0.25, 4, 0, 0, 0, [3]int{0, 0, 0}},       // apart
		{0.25, 1, 0.25, 0.25, 0, [3]int{1, 1, 0}}, // L1 wants a gap, L3 has its border
		{0.25, 0.25, 1, 1, 0.75, [3]int{1, 1, 1}}, // negative as near as the positive
		{0.0625, 0.5625, .5, .5, .4375, [3]int{1, 1, 1}},
		{1, 4, 0, 0.5, 0.5, [3]int{0, 1, 1}},         // a gap is there, the class is too wide
		{4, 0.25, 4.75, 8.25, 4.25, [3]int{1, 1, 1}}, // both wrong
		{2.25, 2.25, 1, 2.75, 1.75, [3]int{1, 1, 1}}, // far from both
		{0, 0, 1, 1, 1, [3]int{1, 1, 1}},             // collapsed: alpha
		{9, 16, 0, 8.5, 8.5, [3]int{0, 1, 1}},
	} {
		z, err := array.Of([]float32{0, float32(math.Sqrt(c.ap)), -float32(math.Sqrt(c.an))}, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{c.l1, c.l2, c.l3} {
			name := []string{"L1", "L2", "L3"}[i]
			res, err := marginCase{name, 1, 0.5, Sum}.build(t).Eval(z, &Tuples{Triplets: []Triplet{{0, 1, 2}}}, nil)
			if err != nil || res != (Result{want, 1, c.active[i], c.ap, c.an}) {
				t.Errorf("%s at %v, %v: %+v (%v), want %v", name, c.ap, c.an, res, err, want)
			}
		}
		// By pairs: the positive term and the negative one.
		pairs := &Tuples{Pairs: []Pair{{0, 1, true}, {2, 0, false}}}
		res, err := marginCase{"pairs", 1, 0.5, Sum}.build(t).Eval(z, pairs, nil)
		if err != nil || res.Loss != c.l3 || res.Tuples != 2 || res.Positive != c.ap || res.Negative != c.an {
			t.Errorf("pairs at %v, %v: %+v (%v), want %v", c.ap, c.an, res, err, c.l3)
		}
	}
}

// At loss 0 of L2 and L3, tau separates positives from negatives; the gap of L1 is
// met by classes of any width.
func TestThresholdSeparates(t *testing.T) {
	for _, c := range marginCases() {
		th, ok := c.build(t).(Thresholder)
		if want := math.Sqrt((c.alpha + c.beta) / 2); !ok || math.Abs(th.Threshold()-want) > 1e-15 {
			t.Errorf("%+v: threshold, want %v", c, want)
		}
	}
	z, err := array.Of([]float32{0, 0.7, 1.75, 0, 3, 6}, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	ts := &Tuples{Triplets: []Triplet{{0, 1, 2}, {3, 4, 5}}}
	for name, want := range map[string]float64{"L1": 0, "L2": 8.5, "L3": 8.5} {
		if res, err := (marginCase{name, 1, 0.5, Sum}).build(t).Eval(z, ts, nil); err != nil || math.Abs(res.Loss-want) > 1e-6 {
			t.Errorf("%s: %+v (%v), want %v", name, res, err, want)
		}
	}
	if _, ok := (marginCase{name: "L1", alpha: 1, reduce: Sum}).build(t).(Thresholder); ok {
		t.Error("L1 has a threshold")
	}
	cosine, err := NewCosine(CosineDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := any(cosine).(Thresholder); ok {
		t.Error("the threshold of the cosine loss is not a distance")
	}
}

func TestMarginsOfMarginLosses(t *testing.T) {
	if m := (marginCase{"L2", 1, 0.25, Mean}).build(t).Margin(); m != 1 {
		t.Errorf("L2: %v", m)
	}
	if m := (marginCase{"L3", 1, 0.25, Mean}).build(t).Margin(); m != 0.75 {
		t.Errorf("L3: %v", m)
	}
}

func TestMarginLossesInactive(t *testing.T) {
	for _, c := range marginCases() {
		l := c.build(t)
		// Satisfied: positives coincide, negatives are far away.
		far, _ := array.Of([]float32{0, 0, 9}, 3, 1)
		fine := &Tuples{Triplets: []Triplet{{0, 1, 2}, {1, 0, 2}}, Pairs: []Pair{{0, 1, true}, {0, 2, false}}}
		pull := far.Clone()
		if res, err := l.Eval(far, fine, pull); err != nil || res.Loss != 0 || res.Active != 0 || res.Tuples != 2 {
			t.Fatalf("%+v: %+v, %v", c, res, err)
		}
		for _, v := range pull.Data {
			if v != 0 {
				t.Fatalf("%+v: gradient is not zero", c)
			}
		}
	}
}
