package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

func TestHardness(t *testing.T) {
	z := embeddings(1, 9, 5)
	ts := &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 8, P: 8, N: 3}, {A: 4, P: 5, N: 0}}}
	for _, eps := range []float64{0, 1e-3} {
		want := 0.0
		for _, x := range ts.Triplets {
			ap, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.P))), eps)
			an, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.N))), eps)
			want += (ap - an) / 3
		}
		if got := Hardness(z, ts, eps); math.Abs(got-want) > 1e-15 {
			t.Errorf("eps %v: %v, want %v", eps, got, want)
		}
	}
	for _, bad := range []*loss.Tuples{{}, {Triplets: []loss.Triplet{{A: 0, P: 1, N: 9}}}, {Triplets: []loss.Triplet{{A: -1, P: 1, N: 2}}}} {
		if got := Hardness(z, bad, 0); !math.IsNaN(got) {
			t.Errorf("%+v: %v", bad, got)
		}
	}
}

// HM reports what it wants, what it used, and the same with and without settled
// triplets.
func TestHMReports(t *testing.T) {
	const pairs = 12
	m, in := scene(71, pairs)
	z := m.Embed(in.Images, nn.Eval).Clone()
	for _, narrow := range []bool{false, true} {
		o := hmOptions(t, Paper)
		o.Destination, o.Narrow = hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 0.2}, narrow
		h := newHM(t, o)
		h.loss = 0.05
		out, _, err := h.Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		c := h.Crafted()
		want := 0.0
		for _, x := range h.dest.drawn.Triplets {
			ap, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.P))), 0)
			an, _ := plainDistance(wide(z.Row(int(x.A))), wide(z.Row(int(x.N))), 0)
			want += (ap - an + 0.1*0.75) / pairs
		}
		if c.Wanted == nil || math.Abs(*c.Wanted-want) > 1e-14 {
			t.Errorf("narrow %v: wanted %v, want %v", narrow, c.Wanted, want)
		}
		sameRadius(t, fmt.Sprint("narrow ", narrow), c.Radius, radiusByHand(wideRows(out.Images), wideRows(h.gathered.clean)))
	}
	const many = 40 // of which a few settled ones are not worth leaving out
	m, in = scene(75, many)
	in.Tuples = someTriplets(many)
	for _, value := range []float64{-9, -1.5, -0.5, -0.1, 0.3, 9} {
		o := hmOptions(t, Paper)
		o.Destination = hardness.Destination{Name: "constant"}
		var full Crafted
		for _, narrow := range []bool{false, true} {
			o.Narrow = narrow
			h := newHM(t, o)
			h.dest.d.Value = value
			if _, _, err := h.Craft(m, in, 1, 1); err != nil {
				t.Fatal(err)
			}
			c := h.Crafted()
			if *c.Wanted != 0 && math.Abs(*c.Wanted-value) > 1e-12 {
				t.Errorf("wanted %v of %v", *c.Wanted, value)
			}
			if !narrow {
				full = c
				continue
			}
			sameRadius(t, fmt.Sprint(value), c.Radius, full.Radius)
			if value == -9 && (c.Steps != 1 || c.ZeroGradient != 1 || c.Radius != record.Radius{}) {
				t.Errorf("all settled: %+v", c)
			}
			// Where all have settled no further step would move anything.
			moved, all := (1-c.ZeroGradient)*float64(c.Steps), (1-full.ZeroGradient)*float64(full.Steps)
			if math.Abs(moved-all) > 1e-12 {
				t.Errorf("destination %v: %d steps with zero gradients %v; without narrow %d and %v", value, c.Steps, c.ZeroGradient, full.Steps, full.ZeroGradient)
			}
			// The positive that is its own anchor has no gradient at first.
			if value == 9 && (math.Abs(c.ZeroGradient-1./(3*many*6)) > 1e-15 || c.Steps != 6) {
				t.Errorf("none settled: %+v", c)
			}
		}
	}
	// Nothing is crafted and nothing wanted where source and destination agree; what
	// was reported before is gone.
	o := hmOptions(t, Paper)
	o.Source, o.Destination = "semihard", hardness.Destination{Name: "semihard"}
	h := newHM(t, o)
	h.crafted = Crafted{Steps: 3}
	if _, _, err := h.Craft(m, in, 1, 1); err != nil || h.Crafted() != (Crafted{}) {
		t.Errorf("%+v (%v)", h.Crafted(), err)
	}
	if _, ok := Defense(None{}).(Reporter); ok {
		t.Error("none reports")
	}
}

// A tolerance ends crafting when the objective stands still, in every defense.
func TestDefensesStopEarly(t *testing.T) {
	p := small(Training())
	p.Iterations, p.Eps, p.Step = 50, 0.01, 0.001 // a corner of the ball is reached in ten steps
	for _, tolerance := range []float64{0, 1e-4, 10} {
		for name, make := range map[string]func() (Defense, error){
			"est":    func() (Defense, error) { return NewEST(ESTOptions{PGD: p, Tolerance: tolerance}) },
			"act":    func() (Defense, error) { return NewACT(ACTOptions{PGD: p, Tolerance: tolerance}) },
			"minmax": func() (Defense, error) { return NewMinMax(MinMaxOptions{PGD: p, Tolerance: tolerance, Anchor: true}) },
		} {
			d, err := make()
			if err != nil {
				t.Fatal(err)
			}
			m, in := scene(72, 2)
			in.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}}
			if _, _, err := d.Craft(m, in, 1, 1); err != nil {
				t.Fatal(err)
			}
			switch steps := d.(Reporter).Crafted().Steps; {
			case tolerance == 0 && steps != 50, tolerance == 10 && steps != 2:
				t.Errorf("%s, tolerance %v: %d steps", name, tolerance, steps)
			case tolerance == 1e-4 && (steps < 3 || steps > 40):
				t.Errorf("%s, tolerance %v: %d steps", name, tolerance, steps)
			}
		}
	}
}

func TestScaledStep(t *testing.T) {
	if got := scaledStep(8.0/255, 8); math.Abs(got-2.5/255) > 1e-15 {
		t.Error(got)
	}
	// Each number of steps reaches the corner of the ball where the gradient keeps
	// its sign; the fixed step of 1/255 does not.
	m := newNet(73, 8, 8, 3, false, 1)
	x := images(74, 5, 0.3, 0.7)
	for _, steps := range []int{1, 2, 4, 8, 32} {
		p := Training()
		p.Eps, p.Iterations, p.Step = 8.0/255, steps, scaledStep(8.0/255, steps)
		_, r := run(t, p, m, x, along{[]float64{0.3, -1, 0.7}}, 1)
		if math.Abs(r.Radius.MeanLinf-p.Eps) > 1e-6 {
			t.Errorf("%d steps: radius %v", steps, r.Radius.MeanLinf)
		}
	}
	if err := new(PGD).Validate(); err == nil {
		t.Error("a PGD without options is accepted")
	}
}

// The options that the papers leave open work in every defense: statistics of the
// batch, random starts, the L2 ball, kept best iterates.
func TestDefensesOnBatchStatistics(t *testing.T) {
	m, err := nn.Build(nn.Spec{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Normalize: true}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 5
	in := &Batch{Images: array.New(2*pairs, 16, 16, 3), IDs: ids(2 * pairs), Tuples: someTriplets(pairs)}
	r := rng.New(2, "images")
	for i := range in.Images.Data {
		in.Images.Data[i] = float32(r.Float64())
	}
	for i := range int32(pairs) {
		in.Labels = append(in.Labels, i, i)
	}
	eval := map[string]string{}
	for _, mode := range []nn.Mode{nn.Eval, nn.BatchStats} {
		for _, norm := range []Norm{Linf, L2} {
			p := Training()
			p.Norm, p.Mode, p.Start, p.Eps, p.Step, p.Iterations = norm, mode, FromRandom, 0.05, 0.02, 3
			if norm == L2 {
				p.Direction, p.Eps, p.Step, p.SkipFinal, p.Keep = Normalized, 0.5, 0.2, false, Best
			}
			before := states(m)
			for name, d := range defenses(t, p) {
				out, _, err := d.Craft(m, in, 1, 1)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				c := d.(Reporter).Crafted()
				used := c.Radius.MaxLinf
				if norm == L2 {
					used = c.Radius.MaxL2
				}
				if used > p.Eps*(1+1e-5) || used < p.Eps/4 || c.Steps != 3 {
					t.Errorf("%s, %s: %+v", name, norm, c)
				}
				key := name + string(norm)
				if got := fmt.Sprint(out.Images.Data); mode == nn.Eval {
					eval[key] = got
				} else if got == eval[key] {
					t.Errorf("%s: the same images in both modes", key)
				}
			}
			if states(m) != before {
				t.Errorf("mode %v: crafting changed the model", mode)
			}
		}
	}
}

// Fixed anchors are embedded as the images that are crafted: among the clean triplets
// where the batch's statistics count, whatever embeddings the batch has.
func TestFixedAnchorsOnBatchStatistics(t *testing.T) {
	m, err := nn.Build(nn.Spec{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Normalize: true}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 5
	in := &Batch{Images: array.New(2*pairs, 16, 16, 3), Labels: make([]int32, 2*pairs), IDs: ids(2 * pairs), Tuples: someTriplets(pairs)}
	r := rng.New(2, "images")
	for i := range in.Images.Data {
		in.Images.Data[i] = float32(r.Float64())
	}
	in.Clean = m.Embed(in.Images, nn.Eval).Clone()
	clean := array.New(3*pairs, 16, 16, 3)
	for i, x := range in.Tuples.Triplets {
		for role, row := range [3]int32{x.A, x.P, x.N} {
			copy(clean.Row(role*pairs+i), in.Images.Row(int(row)))
		}
	}
	for _, mode := range []nn.Mode{nn.Eval, nn.BatchStats} {
		want := m.Embed(clean, mode).Clone()
		d := newMinMax(t, Paper, false, func(p *PGD) { p.Mode = mode })
		_, cost, err := d.Craft(m, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		wantCost := record.Cost{Forward: 2 * pairs * 6, Backward: 2 * pairs * 6}
		if mode == nn.BatchStats {
			wantCost.Forward += 3 * pairs
		}
		if fmt.Sprint(d.anchors.Data) != fmt.Sprint(want.Data[:pairs*want.Cols()]) || cost != wantCost {
			t.Errorf("mode %v: anchors %v, cost %+v", mode, d.anchors.Data[:3], cost)
		}
	}
}

// states is all that a model keeps.
func states(m nn.Embedder) string {
	s := ""
	for _, p := range m.Params() {
		s += fmt.Sprintf("%x", p.Value.Data)
		if p.Grad != nil {
			s += fmt.Sprintf("%x", p.Grad.Data)
		}
	}
	return s
}
