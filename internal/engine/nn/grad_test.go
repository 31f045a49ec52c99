package nn

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// check builds l, draws everything at random, and compares the forward pass with
// the float64 reference and the gradients of sum(dy*y) with the reference's
// central differences, at up to limit elements of each tensor.
func check(t *testing.T, l Layer, n int, in []int, mode Mode, limit int) {
	t.Helper()
	if _, err := l.OutShape(in); err != nil {
		t.Fatal(err)
	}
	r := rng.New(5, "check")
	if err := Initialize(l.Params(), "", r); err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Params() { // batch norm away from its trivial start
		if len(p.Value.Shape) == 1 {
			for i := range p.Value.Data {
				p.Value.Data[i] += float32(r.Uniform(0, 0.5))
			}
		}
	}
	checkBuilt(t, l, n, in, mode, limit, r)
}

func checkBuilt(t *testing.T, l Layer, n int, in []int, mode Mode, limit int, r *rng.Stream) {
	t.Helper()
	x := images(n, in, r.NormFloat64)
	ref := newReference(l, mode)
	y := l.Forward(x, mode)
	compare(t, "forward", wide(y.Data), ref.run(l, n, wide(x.Data)), 2e-5)

	dy := &array.Array{Data: make([]float32, len(y.Data)), Shape: y.Shape}
	for i := range dy.Data {
		dy.Data[i] = float32(r.NormFloat64())
	}
	for _, p := range l.Params() {
		if p.Grad != nil {
			p.Grad.Zero()
		}
	}
	need := Weights | Input
	if mode == Eval { // has input gradients alone
		need = Input
	}
	dx := l.Backward(dy, need)
	if fmt.Sprint(dx.Shape) != fmt.Sprint(x.Shape) {
		t.Fatalf("input gradient has shape %v, want %v", dx.Shape, x.Shape)
	}
	w := wide(dy.Data)
	loss := func(x []float64) float64 {
		s := 0.0
		for i, v := range ref.run(l, n, x) {
			s += w[i] * v
		}
		return s
	}
	at := wide(x.Data)
	diff := func(what string, v []float64, got []float32) {
		const h = 1e-6
		var a, b []float64
		step := max(1, len(v)/limit)
		for i := r.IntN(step); i < len(v); i += step {
			old := v[i]
			v[i] = old + h
			up := loss(at)
			v[i] = old - h
			down := loss(at)
			v[i] = old
			a, b = append(a, float64(got[i])), append(b, (up-down)/(2*h))
		}
		compare(t, what, a, b, 1e-4)
	}
	diff("dx", at, dx.Data)
	for _, p := range l.Params() {
		if p.Grad != nil && need&Weights != 0 {
			diff(p.Name, ref.values[p], p.Grad.Data)
		}
	}
}

// compare fails where got is further than tol from want, relative to the largest
// element of want, or to 0.05 where that is smaller (the gradient of a bias before
// a batch norm is zero).
func compare(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	scale, worst, at := 0.05, 0.0, 0
	for i := range want {
		scale = math.Max(scale, math.Abs(want[i]))
		if d := math.Abs(got[i] - want[i]); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: element %d is %v, want %v (scale %.3g)", what, at, got[at], want[at], scale)
	}
}

func TestLayerGradients(t *testing.T) {
	img := []int{7, 6, 3}
	for _, c := range []struct {
		name string
		in   []int
		make func() Layer
	}{
		{"linear", []int{9}, func() Layer { return NewLinear("l", 5, true) }},
		{"linear without bias", []int{9}, func() Layer { return NewLinear("l", 5, false) }},
		{"conv", img, func() Layer { return NewConv2D("c", 4, 3, 1, 1, true) }},
		{"conv stride 2 without bias", img, func() Layer { return NewConv2D("c", 4, 3, 2, 1, false) }},
		{"conv 5x5 pad 2", img, func() Layer { return NewConv2D("c", 2, 5, 1, 2, true) }},
		{"conv 1x1 stride 2", img, func() Layer { return NewConv2D("c", 2, 1, 2, 0, true) }},
		{"conv as large as the image", []int{4, 4, 2}, func() Layer { return NewConv2D("c", 3, 4, 1, 0, true) }},
		{"batch norm of images", img, func() Layer { return NewBatchNorm2D("b") }},
		{"batch norm of 17 channels", []int{2, 3, 17}, func() Layer { return NewBatchNorm2D("b") }},
		{"batch norm of rows", []int{9}, func() Layer { return NewBatchNorm2D("b") }},
		{"relu", img, func() Layer { return NewReLU("r") }},
		{"max pool", img, func() Layer { return NewMaxPool("p", 2, 2, 0) }},
		{"max pool overlapping, padded", img, func() Layer { return NewMaxPool("p", 3, 2, 1) }},
		{"max pool rectangular", img, func() Layer { return NewMaxPoolRect("p", 4, 3, 3, 3, 0, 0) }},
		{"avg pool", img, func() Layer { return newAvgPool("p", 2, 2, 0) }},
		{"avg pool overlapping, padded", img, func() Layer { return newAvgPool("p", 3, 2, 1) }},
		{"global avg pool", img, func() Layer { return NewGlobalAvgPool("p") }},
		{"global max pool", img, func() Layer { return NewGlobalPool("max") }},
		{"global mean and maximum", img, func() Layer { return NewGlobalPool("avg+max") }},
		{"layer norm of rows", []int{9}, func() Layer { return NewLayerNorm("l", 1e-5, false) }},
		{"layer norm of tokens", []int{5, 17}, func() Layer { return NewLayerNorm("l", 1e-6, true) }},
		{"mean and std", img, func() Layer {
			return NewMeanStd("m", &MeanStd{Mean: []float64{0.1, 0.2, 0.3}, Std: []float64{0.5, 0.25, 2}})
		}},
		{"mean and std, channels reversed", img, func() Layer {
			return NewMeanStd("m", &MeanStd{Mean: []float64{0.1, 0.2, 0.3}, Std: []float64{0.5, 0.25, 2}, BGR: true})
		}},
		{"flatten", img, func() Layer { return NewFlatten("f") }},
		{"pad", img, func() Layer { return NewPad2D("p", 10, 7) }},
		{"normalize", []int{9}, func() Layer { return NewL2Normalize("n") }},
		{"residual", img, func() Layer { return NewResidual("r", NewConv2D("c", 3, 3, 1, 1, true), nil) }},
		{"residual block with projection", img, func() Layer { return basicBlock("b", 3, 4, 2) }},
		{"bottleneck", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 8, 1, 1, 0, false), bottleneckBlock("b", 8, 2, 1), NewReLU("r"))
		}},
		{"bottleneck with projection", img, func() Layer { return bottleneckBlock("b", 3, 2, 2) }},
		{"sequence", img, func() Layer {
			return NewSequential("s", NewReLU("r"), NewConv2D("c", 4, 3, 1, 0, true), NewFlatten("f"), NewLinear("l", 3, true))
		}},
		{"conv, relu", img, func() Layer { return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, true), NewReLU("r")) }},
		{"conv, relu, max pool", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, true), NewReLU("r"), NewMaxPool("p", 2, 2, 0))
		}},
		{"conv, batch norm", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, true), NewBatchNorm2D("b"))
		}},
		{"conv, batch norm, relu", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, false), NewBatchNorm2D("b"), NewReLU("r"), NewConv2D("d", 2, 1, 1, 0, true))
		}},
		{"conv, batch norm, relu, overlapping max pool", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, true), NewBatchNorm2D("b"), NewReLU("r"), NewMaxPool("p", 3, 2, 1))
		}},
		{"conv, batch norm, relu, max pool", img, func() Layer {
			return NewSequential("s", NewConv2D("c", 4, 3, 1, 1, true), NewBatchNorm2D("b"), NewReLU("r"), NewMaxPool("p", 2, 2, 0), NewConv2D("d", 2, 1, 1, 0, true))
		}},
		{"batch norm, relu, max pool", img, func() Layer {
			return NewSequential("s", NewBatchNorm2D("b"), NewReLU("r"), NewMaxPool("p", 2, 2, 0), NewConv2D("d", 2, 1, 1, 0, true))
		}},
		{"relu, max pool", img, func() Layer { return NewSequential("s", NewReLU("r"), NewMaxPool("p", 2, 2, 0)) }},
		{"linear, relu, linear", []int{9}, func() Layer {
			return NewSequential("s", NewLinear("l", 5, true), NewReLU("r"), NewLinear("m", 4, false))
		}},
		{"residual, relu", img, func() Layer {
			return NewSequential("s", NewResidual("r", NewConv2D("c", 3, 3, 1, 1, true), nil), NewReLU("relu"), NewConv2D("d", 2, 1, 1, 0, true))
		}},
		{"residual block, relu, max pool", img, func() Layer {
			return NewSequential("s", basicBlock("b", 3, 3, 1), NewReLU("relu"), NewMaxPool("p", 2, 2, 0))
		}},
		{"residual blocks, relu", img, func() Layer {
			return NewSequential("s", basicBlock("b", 3, 3, 1), NewReLU("relu"), basicBlock("c", 3, 4, 2), NewReLU("relu2"))
		}},
	} {
		for mode, name := range map[Mode]string{Eval: "eval", Train: "train", BatchStats: "batch statistics", Frozen: "frozen"} {
			t.Run(c.name+"/"+name, func(t *testing.T) { check(t, c.make(), 3, c.in, mode, testutil.Trials(100, 1000)) })
		}
	}
}

func TestModelGradients(t *testing.T) {
	for _, c := range []struct {
		s     Spec
		limit int
	}{
		{Spec{Name: "linear", Height: 5, Width: 4, Channels: 2, Embedding: 6}, 200},
		{Spec{Name: "mlp", Height: 6, Width: 6, Channels: 1, Units: 9}, 60},
		{Spec{Name: "mlp", Height: 6, Width: 6, Channels: 1, Units: 9, FinalReLU: true}, 60},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 2, Normalize: true}, testutil.Trials(4, 8)},
		{Spec{Name: "cnn", Height: 13, Width: 15, Channels: 2, Units: 3}, testutil.Trials(6, 12)},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 2, Filters: "paper-text"}, testutil.Trials(4, 8)},
		{Spec{Name: "lenet", Height: 16, Width: 16, Channels: 1, Normalize: true}, 5},
		{Spec{Name: "c2f2", Height: 8, Width: 8, Channels: 3, Embedding: 20, Normalize: true}, 4},
		{Spec{Name: "resnet18", Height: 12, Width: 12, Channels: 3, Units: 3, Embedding: 5}, testutil.Trials(2, 4)},
		{Spec{Name: "resnet18", Height: 37, Width: 33, Channels: 3, Units: 2, Embedding: 5, Stem: "imagenet", Normalize: true}, testutil.Trials(1, 3)},
	} {
		for _, mode := range []Mode{Eval, Train, Frozen} {
			t.Run(fmt.Sprintf("%s-%dx%d%s/%d", c.s.Name, c.s.Height, c.s.Width, c.s.Filters, mode), func(t *testing.T) {
				r := rng.New(3, "model")
				m, err := Build(c.s, r)
				if err != nil {
					t.Fatal(err)
				}
				checkBuilt(t, m.net, 3, m.in, mode, c.limit, r)
			})
		}
	}
}
