package generalize

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/wire"
)

// weightsOf are all trained weights of m, in order.
func weightsOf(m *nn.Model) []float32 { return slices.Concat(trainedWeights(m)...) }

func TestNextFloatMovesOneWeightByItsLastBit(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	_, m, err := finished(r)
	if err != nil {
		t.Fatal(err)
	}
	before := weightsOf(m)
	for _, at := range []int{0, 7, len(before) - 1} {
		nextFloat(m, at)
		after := weightsOf(m)
		var moved []int
		for i, v := range after {
			if v != before[i] {
				moved = append(moved, i)
				if bits := int64(math.Float32bits(v)) - int64(math.Float32bits(before[i])); bits != 1 {
					t.Errorf("weight %d moved by %d ulps", i, bits)
				}
			}
		}
		if len(moved) != 1 {
			t.Fatalf("weight %d: weights %v moved", at, moved)
		}
		before = after
	}
}

// Controls are weights that training has changed and that did not begin at 0.
func TestControlsAreWeightsThatCount(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	_, end, err := finished(r)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := wire.OpenData(t.Context(), r.Config)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := wire.BuildModel(r.Config, sets.Train)
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range trainedWeights(begin) { // five are left: some that moved, by number
		for i := range w {
			if k > 0 || i > 9 || i%2 == 0 {
				w[i] = 0
			}
		}
	}
	moved := 0
	before, after := weightsOf(begin), weightsOf(end)
	for i := range before[:10] {
		if before[i] != 0 && before[i] != after[i] {
			moved++
		}
	}
	all := ulps(begin, end, 10, 5)
	if len(all) != moved || moved == 0 {
		t.Errorf("%d controls, %d weights moved", len(all), moved)
	}
	for _, c := range all {
		if c.By > 9 || c.By%2 == 0 || c.Image != noImage {
			t.Errorf("control %+v", c)
		}
	}
	if some := ulps(begin, end, 2, 5); len(all) > 2 && !slices.Equal(some, all[:2]) {
		t.Errorf("two controls %v of %v", some, all)
	}
	if none := ulps(end, end, 3, 5); none != nil {
		t.Errorf("weights that training has not changed: %v", none)
	}
}

// The control by hand: the run trained again through Train on the same images with one
// weight moved is what the measurement has compared. It does not count for gamma.
func TestControlByHand(t *testing.T) {
	root := t.TempDir()
	r := runtest.Trained(t, root, few...)
	in, _ := used(t, r)
	o := stabilityOptions
	o.Images, o.Replace = []int{in}, []string{ReplaceUlp, ReplaceFresh}
	d := measuredAs[*StabilityDoc](t, r, o)
	if len(d.Replaced) != 2 || d.Replaced[0].Kind != ReplaceFresh || d.Replaced[1].Kind != ReplaceUlp || len(d.Kinds) != 2 {
		t.Fatalf("%+v", d)
	}
	c := d.Replaced[1]
	if c.Image != noImage || c.Uses != 0 || d.Gamma != d.Replaced[0].Movement.LossMax || !slices.Equal(d.Options.Images, []int{in}) {
		t.Errorf("control %+v, gamma %g", c, d.Gamma)
	}
	again := runtest.Create(t, root, append(slices.Clone(few), "name=again")...)
	again.Alter = func(s *wire.Sets) error {
		s.Begin = func(m *nn.Model) { nextFloat(m, c.By) }
		return nil
	}
	if _, err := again.Train(context.Background(), run.Watch{}); err != nil {
		t.Fatal(err)
	}
	_, was, err := finished(r)
	if err != nil {
		t.Fatal(err)
	}
	_, now, err := finished(again)
	if err != nil {
		t.Fatal(err)
	}
	apart, _ := weightsApart(was, now)
	if apart != c.Movement.Weights || apart == 0 || apart > d.Replaced[0].Movement.Weights {
		t.Errorf("weights %g apart by hand, %g measured; with an image replaced %g", apart, c.Movement.Weights, d.Replaced[0].Movement.Weights)
	}
	if s := c.Movement; math.Abs(s.LossShift) > s.LossMean {
		t.Errorf("mean change %g, mean size of changes %g", s.LossShift, s.LossMean)
	}
	o.Replace = []string{ReplaceUlp}
	o.Images, o.Force = nil, true
	if d = measuredAs[*StabilityDoc](t, r, o); len(d.Replaced) != 2 || d.Gamma != 0 || d.Options.Images != nil {
		t.Errorf("controls alone: %+v", d)
	}
}

// Two groups of four, against numbers worked out by hand: logs 0, 2, 4, 6 and 1, 1, 3, 3
// have means 3 and 2, squared errors 20/12 and 4/12, and t of 3 degrees is 3.1824.
func TestControlRatio(t *testing.T) {
	r := ratioTo(ReplaceFresh, []float64{0, 2, 4, 6}, []float64{1, 1, 3, 3})
	half := 3.182446 * math.Sqrt2
	for _, v := range [][2]float64{{r.Ratio, math.E}, {r.CI95[0], math.Exp(1 - half)}, {r.CI95[1], math.Exp(1 + half)}} {
		if math.Abs(v[0]/v[1]-1) > 1e-5 {
			t.Errorf("%g, want %g", v[0], v[1])
		}
	}
	for want, own := range map[string][]float64{"supported": {.01, -.01, 0}, "contradicted": {1, 1.01, .99}, "inconclusive": {.2, .3, .1}} {
		if r := ratioTo(ReplaceFar, own, []float64{.01, 0, -.01}); r.Verdict != want {
			t.Errorf("%v: %+v, want %s", own, r, want)
		}
	}
	if r := ratioTo(ReplaceFar, []float64{1}, []float64{0}); r.CI95 != nil || r.Verdict != "inconclusive" {
		t.Errorf("one retraining each: %+v", r)
	}
}
