package adversary

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/testutil"
)

// goldenCase is one training step of a defense, or two, in PyTorch 1.13.1; see
// testdata/scripts/defense_golden.py.
type goldenCase struct {
	Name, Implementation string
	Steps                int
	Crafts               []struct {
		Images                  []float64
		Loss, Penalty, Hardness float64
		Wanted                  *float64
		Grads                   map[string][]float64
	}
}

// sequence is a Sequential as an Embedder.
type sequence struct{ *nn.Sequential }

func (s sequence) Dim() int { return 5 }

func (s sequence) Embed(x *array.Array, mode nn.Mode) *array.Array { return s.Forward(x, mode) }

// goldenFormula is the script's integer formula.
func goldenFormula(n, seed int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(float64((i*7919+i*i%613*31+seed*104729)%2003) / 2003))
	}
	return out
}

// goldenScene returns the script's network and batch.
func goldenScene(t *testing.T) (sequence, *Batch) {
	t.Helper()
	net := nn.NewSequential("c2f2",
		nn.NewConv2D("conv1", 4, 5, 1, 2, true), nn.NewReLU("r1"), nn.NewMaxPool("p1", 2, 2, 0),
		nn.NewConv2D("conv2", 6, 5, 1, 2, true), nn.NewReLU("r2"), nn.NewMaxPool("p2", 2, 2, 0),
		nn.NewFlatten("f"), nn.NewLinear("fc1", 10, true), nn.NewReLU("r3"), nn.NewLinear("fc2", 5, true),
		nn.NewL2Normalize("n"))
	if _, err := net.OutShape([]int{8, 8, 1}); err != nil {
		t.Fatal(err)
	}
	for k, p := range net.Params() {
		scale := 1.0
		if len(p.Value.Shape) == 1 {
			scale = 0.05
		}
		for i, v := range goldenFormula(len(p.Value.Data), 100+k) {
			p.Value.Data[i] = float32((v - 0.5) * scale)
		}
	}
	x := array.New(6, 8, 8, 1)
	for i := range 6 {
		pattern, noise := goldenFormula(64, 50+i/2), goldenFormula(64, 60+i)
		for k := range pattern {
			v := 0.15 + 0.3*noise[k]
			if pattern[k] > 0.5 {
				v += 0.5
			}
			x.Row(i)[k] = float32(v)
		}
	}
	triplets := []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 2, P: 3, N: 5}, {A: 4, P: 5, N: 0}, {A: 1, P: 0, N: 5}}
	return sequence{net}, &Batch{Images: x, Labels: []int32{0, 0, 1, 1, 2, 2}, IDs: ids(6), Tuples: &loss.Tuples{Triplets: triplets}}
}

// goldenDefense makes the defense of a case.
func goldenDefense(t *testing.T, c goldenCase) Defense {
	t.Helper()
	v := Implementation(c.Implementation)
	set := func(p PGD) PGD {
		p.Eps, p.Step, p.Iterations = 0.025, 0.01, c.Steps
		return p
	}
	var d Defense
	var err error
	switch c.Name {
	case "est":
		o, _ := ESTDefaults(v)
		o.PGD = set(o.PGD)
		d, err = NewEST(o)
	case "act":
		o, _ := ACTDefaults(v)
		o.PGD = set(o.PGD)
		d, err = NewACT(o)
	case "minmax", "minmax-fixed-anchor":
		o, _ := MinMaxDefaults(v)
		o.PGD, o.Anchor = set(o.PGD), c.Name == "minmax"
		d, err = NewMinMax(o)
	case "hm":
		o, _ := HMDefaults(v, 0.2)
		o.PGD, o.ICS = set(o.PGD), ICSOptions{Lambda: 0.5}
		if v == Paper {
			o.Destination.U = 2.2
		}
		d, err = NewHM(o)
	default:
		t.Fatalf("golden file has a defense %s", c.Name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDefensesAgainstPyTorch compares crafted images, loss, penalty and gradients of
// whole training steps.
func TestDefensesAgainstPyTorch(t *testing.T) {
	var doc struct {
		Nudges []int
		Cases  []goldenCase
	}
	testutil.ReadJSON(t, "testdata/golden.json", &doc)
	if len(doc.Cases) != 9 {
		t.Fatalf("%d cases", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		t.Run(fmt.Sprintf("%s, %s, %d steps", c.Name, c.Implementation, c.Steps), func(t *testing.T) {
			d := goldenDefense(t, c)
			for k := range c.Crafts {
				goldenStep(t, d, c, k)
			}
			if e, ok := d.(*EST); ok {
				var drawn []int
				for _, v := range e.goal.nudges.Data {
					drawn = append(drawn, int(math.Round(float64(v)/nudge)))
				}
				if !slices.Equal(drawn, doc.Nudges) {
					t.Fatalf("nudges %v, the golden file has %v", drawn, doc.Nudges)
				}
			}
		})
	}
}

func goldenStep(t *testing.T, d Defense, c goldenCase, k int) {
	t.Helper()
	want := c.Crafts[k]
	net, in := goldenScene(t)
	out, _, err := d.Craft(net, in, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	testutil.NearAll(t, "images", out.Images.Data, want.Images, 1e-6)
	tuples := out.Tuples
	if tuples == nil {
		tuples = in.Tuples // EST: the rows are the same
	}
	l, err := loss.NewTriplet(loss.TripletDefaults())
	if err != nil {
		t.Fatal(err)
	}
	z := net.Embed(out.Images, nn.Train)
	dz := array.New(z.Shape...)
	r, err := l.Eval(z, tuples, dz)
	if err != nil {
		t.Fatal(err)
	}
	penalty, err := d.Penalty(out, z, dz)
	if err != nil {
		t.Fatal(err)
	}
	got := []float32{float32(r.Loss), float32(penalty), float32(Hardness(z, tuples, 0))}
	testutil.NearAll(t, "loss, penalty, hardness", got, []float64{want.Loss, want.Penalty, want.Hardness}, 1e-5)
	net.Backward(dz, nn.Weights)
	compared := 0
	for _, p := range net.Params() {
		if g, ok := want.Grads[p.Name]; ok {
			testutil.NearAll(t, "gradient of "+p.Name, p.Grad.Data, g, 1e-5)
			compared++
		}
	}
	if compared != 3 {
		t.Errorf("%d gradients compared", compared)
	}
	if o, ok := d.(Observer); ok {
		o.Observe(r.Loss)
	}
	if wanted := d.(Reporter).Crafted().Wanted; (wanted != nil) != (want.Wanted != nil) || wanted != nil && !(math.Abs(*wanted-*want.Wanted) <= 1e-6) {
		t.Errorf("wanted hardness %v, want %v", wanted, want.Wanted)
	}
}
