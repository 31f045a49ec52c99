package nn

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// everyLayer is a net that holds every kind of layer.
func everyLayer() *Sequential {
	return NewSequential("every",
		NewMeanStd("std", &MeanStd{Mean: []float64{0.1, 0.2, 0.3}, Std: []float64{0.9, 1.1, 1.3}, BGR: true}), NewPad2D("pad", 12, 12), NewConv2D("conv1", 20, 3, 1, 1, true), NewBatchNorm2D("bn"), NewReLU("relu1"),
		NewMaxPool("max", 3, 2, 1), basicBlock("block", 20, 24, 2), NewResidual("same", NewReLU("relu2"), nil),
		newAvgPool("avg", 2, 1, 0), NewResidual("body", NewConv2D("conv2", 24, 1, 1, 0, true), nil),
		NewConv2D("conv3", 16, 1, 1, 0, false), NewResidual("norm", NewLayerNorm("pixels", 1e-6, true), nil), NewGlobalPool("avg+max"), NewLayerNorm("features", 1e-5, false),
		NewLinear("fc", 10, true), NewFlatten("flatten"), NewL2Normalize("norm"))
}

func built(t *testing.T, l Layer, in ...int) Layer {
	t.Helper()
	if _, err := l.OutShape(in); err != nil {
		t.Fatal(err)
	}
	if err := Initialize(l.Params(), "he-normal", rng.New(1, "init")); err != nil {
		t.Fatal(err)
	}
	return l
}

func zero(l Layer) {
	for _, p := range l.Params() {
		if p.Grad != nil {
			p.Grad.Zero()
		}
	}
}

// grads returns a copy of all gradients.
func grads(l Layer) []float32 {
	var g []float32
	for _, p := range l.Params() {
		if p.Grad != nil {
			g = append(g, p.Grad.Data...)
		}
	}
	return g
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func TestNeedGivesTheSameAsTheFullBackward(t *testing.T) {
	for _, mode := range []Mode{Frozen, Train, BatchStats} {
		r := rng.New(2, "need")
		l := built(t, everyLayer(), 11, 10, 3)
		x := images(4, []int{11, 10, 3}, r.NormFloat64)
		dy := l.Forward(x, mode).Clone()
		for i := range dy.Data {
			dy.Data[i] = float32(r.NormFloat64())
		}
		dx := slices.Clone(l.Backward(dy, Weights|Input).Data)
		full := grads(l)

		zero(l)
		if got := l.Backward(dy, Weights); got != nil {
			t.Errorf("mode %d: Weights alone returns a gradient", mode)
		}
		if !sameBits(grads(l), full) {
			t.Errorf("mode %d: Weights alone gives other parameter gradients", mode)
		}
		l.Backward(dy, Weights)
		for i, g := range grads(l) {
			if want := 2 * full[i]; math.Abs(float64(g-want)) > 1e-4*(1+math.Abs(float64(want))) {
				t.Fatalf("mode %d: gradients are not added: %v after %v", mode, g, full[i])
			}
		}
		// Without gradients to write to, any weight-gradient work would panic.
		for _, p := range l.Params() {
			p.Grad = nil
		}
		if !sameBits(l.Backward(dy, Input).Data, dx) {
			t.Errorf("mode %d: Input alone gives another input gradient", mode)
		}
		if l.Backward(dy, 0) != nil {
			t.Errorf("mode %d: need 0 gives a gradient", mode)
		}
	}
}

func TestWeightsAloneComputesNoInputGradientInTheFirstLayer(t *testing.T) {
	conv := NewConv2D("conv", 4, 3, 1, 1, true)
	pad, relu := NewPad2D("pad", 8, 8), NewReLU("relu")
	l := built(t, NewSequential("s", pad, conv, relu), 6, 6, 2)
	y := l.Forward(images(2, []int{6, 6, 2}, rng.New(1, "x").NormFloat64), Train)
	l.Backward(y.Clone(), Weights)
	if conv.dx != nil || pad.dx != nil || relu.dx == nil {
		t.Fatal("input gradients below the first parameters were computed, or those above were not")
	}
}

func TestThreadsDoNotChangeBits(t *testing.T) {
	if kernel.Measures() {
		t.Skip("plans are measured, and may differ between networks that are built alike")
	}
	defer par.SetThreads(0)
	sameWithAnyThreads(t, everyLayer)
	sameWithAnyThreads(t, func() *Sequential { return NewSequential("vit", vitLayers(32, 2, 2, 4)...) })
}

func sameWithAnyThreads(t *testing.T, net func() *Sequential) {
	t.Helper()
	var want []float32
	for _, threads := range []int{1, 2, 64} {
		par.SetThreads(threads)
		r := rng.New(2, "threads")
		l := built(t, net(), 12, 12, 3)
		x := images(9, []int{12, 12, 3}, r.NormFloat64)
		var got []float32
		for range 2 {
			y := l.Forward(x, Train)
			got = append(got, y.Data...)
			got = append(got, l.Backward(y.Clone(), Weights|Input).Data...)
		}
		got = append(got, grads(l)...)
		for _, p := range l.Params() {
			got = append(got, p.Value.Data...)
		}
		if want == nil {
			want = got
		} else if !sameBits(got, want) {
			t.Fatalf("%d threads give other bits than 1", threads)
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1) // AllocsPerRun runs on one processor
	waitForQuiet()
	for _, s := range []Spec{
		{Name: "c2f2", Height: 8, Width: 8, Channels: 1, Embedding: 8, Normalize: true},
		{Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 2, Normalize: true},
		{Name: "resnet18", Height: 8, Width: 8, Channels: 3, Units: 2, Embedding: 4},
		{Name: "resnet50", Height: 8, Width: 8, Channels: 3, Units: 2, Embedding: 4, Pool: "avg+max", Head: "layernorm-linear", MeanStd: Standards.All()[2].Defaults.MeanStd()},
		{Name: "vit-s16", Height: 16, Width: 16, Channels: 3},
	} {
		m, err := Build(s, rng.New(1, "model"))
		if err != nil {
			t.Fatal(err)
		}
		large, small := images(5, m.in, rng.New(1, "x").Float64), images(2, m.in, rng.New(2, "x").Float64)
		step := func(x *array.Array) {
			z := m.Embed(x, Train)
			m.Backward(z, Weights)
			m.Embed(x, Eval)
			m.Backward(z, Input)
		}
		step(large)
		step(small)
		if n := testing.AllocsPerRun(3, func() { step(large); step(small) }); n != 0 {
			t.Errorf("%s: %v allocations in a step after the first", s.Name, n)
		}
	}
}

// waitForQuiet returns when no goroutine has allocated for a while: threads of earlier tests
// that fall asleep allocate what they sleep in, once each.
func waitForQuiet() {
	var m runtime.MemStats
	for last := ^uint64(0); last != m.Mallocs; {
		time.Sleep(100 * time.Millisecond)
		last = m.Mallocs
		runtime.ReadMemStats(&m)
	}
}

func TestAlternatingBatchSizesGiveTheSame(t *testing.T) {
	l := built(t, everyLayer(), 12, 12, 3)
	a, b := images(5, []int{12, 12, 3}, rng.New(1, "a").NormFloat64), images(2, []int{12, 12, 3}, rng.New(1, "b").NormFloat64)
	ya := l.Forward(a, Eval).Clone()
	da := l.Backward(ya, Input).Clone()
	yb := l.Forward(b, Eval).Clone()
	l.Backward(yb, Input)
	if y := l.Forward(a, Eval); !sameBits(y.Data, ya.Data) || !sameBits(l.Backward(ya, Input).Data, da.Data) {
		t.Fatal("a smaller batch in between changes the result")
	}
}

func TestBatchNormStatistics(t *testing.T) {
	l := NewBatchNorm2D("bn")
	built(t, l, 1, 2, 1)
	x, _ := array.Of([]float32{1, 2, 3, 6}, 2, 1, 2, 1) // mean 3, squares 4+1+0+9 = 14
	l.Forward(x, BatchStats)
	if l.runMean.Value.Data[0] != 0 || l.runVar.Value.Data[0] != 1 {
		t.Fatal("BatchStats moved the running statistics")
	}
	l.Forward(x, Train)
	near := func(got float32, want float64) bool { return math.Abs(float64(got)-want) < 1e-6 }
	if m, v := l.runMean.Value.Data[0], l.runVar.Value.Data[0]; !near(m, 0.3) || !near(v, 0.9+0.1*14/3) {
		t.Fatalf("running mean %v, variance %v; want 0.3 and %v", m, v, 0.9+0.1*14.0/3)
	}
	l.Forward(x, Eval)
	if !near(l.runMean.Value.Data[0], 0.3) {
		t.Fatal("Eval moved the running statistics")
	}
	// All identical: variance 0, outputs the bias, gradients finite.
	same, _ := array.Of([]float32{7, 7, 7, 7}, 2, 1, 2, 1)
	y := l.Forward(same, Train)
	dx := l.Backward(x, Input)
	for i := range y.Data {
		if y.Data[i] != 0 || dx.Data[i]-dx.Data[i] != 0 {
			t.Fatalf("identical values give %v, gradient %v", y.Data, dx.Data)
		}
	}
}

func TestEdgeValues(t *testing.T) {
	nan := float32(math.NaN())
	x, _ := array.Of([]float32{0, 0, nan, 1, -1, -2}, 3, 2)
	norm := built(t, NewL2Normalize("n"), 2)
	y := norm.Forward(x, Eval)
	if y.Data[0] != 0 || y.Data[1] != 0 {
		t.Errorf("a zero row becomes %v", y.Data[:2])
	}
	if y.Data[3] == y.Data[3] {
		t.Errorf("a row with NaN becomes %v", y.Data[2:4])
	}
	if dx := norm.Backward(x, Input); dx.Data[3] == dx.Data[3] {
		t.Errorf("the gradient at a row with NaN is %v", dx.Data[2:4])
	}
	relu := built(t, NewReLU("r"), 2)
	if y := relu.Forward(x, Eval); y.Data[2] == y.Data[2] || y.Data[0] != 0 || y.Data[4] != 0 {
		t.Errorf("ReLU gives %v", y.Data)
	}
	pool := built(t, NewMaxPool("p", 2, 2, 0), 2, 2, 1)
	tie, _ := array.Of([]float32{3, 3, 3, 1, 1, nan, 2, nan}, 2, 2, 2, 1)
	if y := pool.Forward(tie, Eval); y.Data[0] != 3 || y.Data[1] == y.Data[1] {
		t.Errorf("MaxPool gives %v", y.Data)
	}
	one, _ := array.Of([]float32{1, 1}, 2, 1, 1, 1)
	if dx := pool.Backward(one, Input); !slices.Equal(dx.Data, []float32{1, 0, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("MaxPool sends gradients to %v: not to the first of the winners", dx.Data)
	}
}

func TestPadPutsTheOddLineLast(t *testing.T) {
	pad := built(t, NewPad2D("p", 3, 4), 2, 1, 1)
	x, _ := array.Of([]float32{5, 6}, 1, 2, 1, 1)
	if y := pad.Forward(x, Eval); !slices.Equal(y.Data, []float32{0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0}) {
		t.Fatalf("%v", y.Data)
	}
}

func TestLayersSayWhatDoesNotFit(t *testing.T) {
	for want, c := range map[string]struct {
		l  Layer
		in []int
	}{
		"fc: needs flat rows, got rows of shape [2 2 1]": {NewLinear("fc", 3, true), []int{2, 2, 1}},
		"fc.weight: shape [3 0] has an extent below 1":   {NewLinear("fc", 0, true), []int{3}},
		"has more than 1073741824 numbers":               {NewLinear("fc", 1<<20, true), []int{1 << 20}},
		"conv: needs images":                             {NewConv2D("conv", 3, 3, 1, 0, true), []int{9}},
		"conv: kernel 5x5 does not fit into a 4x3 image": {NewConv2D("conv", 3, 5, 1, 0, true), []int{4, 3, 1}},
		"stride must be at least 1":                      {NewConv2D("conv", 3, 5, 0, 0, true), []int{9, 9, 1}},
		"pool: window 3x3 does not fit":                  {NewMaxPool("pool", 3, 1, 0), []int{2, 2, 1}},
		"pool: padding 2x2 is more than half":            {NewMaxPool("pool", 3, 1, 2), []int{9, 9, 1}},
		"avg: needs images":                              {newAvgPool("avg", 2, 2, 0), []int{4}},
		"gap: needs images":                              {NewGlobalAvgPool("gap"), []int{4}},
		"bn: needs images":                               {NewBatchNorm2D("bn"), []int{4, 4}},
		"norm: needs flat rows":                          {NewL2Normalize("norm"), []int{2, 2, 1}},
		"a 9x2 image cannot be padded to 8x8":            {NewPad2D("pad", 8, 8), []int{9, 2, 1}},
		"res: the body gives rows of shape [2 2 3]":      {NewResidual("res", NewConv2D("c", 3, 3, 2, 1, true), nil), []int{4, 4, 3}},
		"seq: no layers":                                 {NewSequential("seq"), []int{4}},
	} {
		if _, err := c.l.OutShape(c.in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// newAvgPool returns k x k mean pooling; the padding must be at most k/2.
func newAvgPool(name string, k, stride, pad int) *AvgPool {
	return &AvgPool{base: base{name: name}, pool: kernel.Pool{
		KH: k, KW: k, StrideH: stride, StrideW: stride, PadH: pad, PadW: pad}}
}
