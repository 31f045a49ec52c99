package nn

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

func build(t *testing.T, s Spec) *Model {
	t.Helper()
	m, err := Build(s, rng.New(1, "model"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The counts are sums written out by layer, so that they do not come from the
// code under test.
func TestParameterCounts(t *testing.T) {
	const resnetBackbone = 11_689_512 - (512*1000 + 1000) // torchvision's resnet18 less its classifier
	const resnet34, resnet50 = 21_284_672, 23_508_032     // torchvision's, without fc
	const smallStem = resnetBackbone - 7*7*3*64 + 3*3*3*64
	k := 47
	for _, c := range []struct {
		s    Spec
		dim  int
		want int
	}{
		{Spec{Name: "linear", Height: 1, Width: 1, Channels: 30}, 128, 30 * 128},
		{Spec{Name: "linear", Height: 1, Width: 1, Channels: 30, Embedding: 7}, 7, 30 * 7},
		{Spec{Name: "mlp", Height: 28, Width: 28, Channels: 1}, 200, 237_400},
		{Spec{Name: "mlp", Height: 8, Width: 8, Channels: 1, Units: 10, Embedding: 3}, 3, 64*10 + 10 + 110 + 33},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1}, 47, 235_611},
		{Spec{Name: "cnn", Height: 32, Width: 32, Channels: 1}, 47, 235_611},
		{Spec{Name: "cnn", Height: 32, Width: 32, Channels: 3}, 47, 235_611 + 18*k},
		{Spec{Name: "cnn", Height: 64, Width: 64, Channels: 1}, 47, 235_611},
		{Spec{Name: "cnn", Height: 105, Width: 105, Channels: 1}, 47, 235_611},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, FC: "2k"}, 94, 235_611 + 16*k*k + k},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Filters: "paper-text"}, 94, 129_344},
		{Spec{Name: "cnn", Height: 32, Width: 32, Channels: 1, Filters: "paper-text"}, 94, 129_344 - 4*k*k + 16*k*k},
		{Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Filters: "paper-text", FC: "k"}, 47, 129_344 - 2*k*k - k},
		{Spec{Name: "lenet", Height: 28, Width: 28, Channels: 1}, 128, 25*20 + 20 + 25*20*50 + 50 + 800*500 + 500 + 500*128 + 128},
		{Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1}, 512, 25*32 + 32 + 25*32*64 + 64 + 3136*1024 + 1024 + 1024*512 + 512},
		{Spec{Name: "c2f2", Height: 32, Width: 32, Channels: 3}, 512, 75*32 + 32 + 25*32*64 + 64 + 4096*1024 + 1024 + 1024*512 + 512},
		{Spec{Name: "resnet18", Height: 224, Width: 224, Channels: 3, Normalize: true}, 512, resnetBackbone + 512*512 + 512},
		{Spec{Name: "resnet18", Height: 32, Width: 32, Channels: 3, Embedding: 128}, 128, smallStem + 512*128 + 128},
		{Spec{Name: "resnet34", Height: 224, Width: 224, Channels: 3}, 512, resnet34 + 512*512 + 512},
		{Spec{Name: "resnet50", Height: 224, Width: 224, Channels: 3, Embedding: 64}, 64, resnet50 + 2048*64 + 64},
		{Spec{Name: "resnet50", Height: 97, Width: 131, Channels: 3, Head: "none"}, 2048, resnet50},
		// DINO's and timm's deit_small_patch16_224 without its classifier.
		{Spec{Name: "vit-s16", Height: 224, Width: 224, Channels: 3}, 384, 21_665_664},
	} {
		m, err := Build(c.s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.ParamCount() != c.want || m.Dim() != c.dim || m.Spec().Embedding != c.dim {
			t.Errorf("%+v: %d parameters, D %d; want %d, %d", c.s, m.ParamCount(), m.Dim(), c.want, c.dim)
		}
		sum := 0
		for _, l := range m.Describe() {
			sum += l.Params
			if l.Name == "" || l.Kind == "" || len(l.Out) == 0 {
				t.Errorf("%s: layer without a name, kind or shape: %+v", c.s.Name, l)
			}
		}
		if sum != c.want {
			t.Errorf("%s: the layers have %d parameters together", c.s.Name, sum)
		}
	}
}

func TestDescribe(t *testing.T) {
	info := build(t, Spec{Name: "c2f2", Height: 28, Width: 28, Channels: 1}).Describe()
	if first := info[0]; first.Name != "conv1" || first.Kind != "Conv2D" || !slices.Equal(first.Out, []int{28, 28, 32}) || first.FLOPs != 2*28*28*32*25 {
		t.Errorf("first layer %+v", first)
	}
	var total int64
	for _, l := range info {
		total += l.FLOPs
	}
	if want := int64(2 * (28*28*32*25 + 14*14*64*25*32 + 3136*1024 + 1024*512)); total != want {
		t.Errorf("%d operations, want %d", total, want)
	}
}

// Whatever the image, cnn in paper-count ends in a 2x2 map; the maps before it
// are those that its comment promises.
func TestCNNMaps(t *testing.T) {
	for _, c := range []struct {
		filters string
		h, w    int
		maps    []int // of the three convolutions and the last pool: h, w each
	}{
		{"", 2, 2, []int{2, 2, 2, 2, 2, 2, 2, 2}},
		{"", 3, 5, []int{3, 5, 3, 5, 3, 5, 2, 2}},
		{"", 8, 8, []int{8, 8, 8, 8, 4, 4, 2, 2}},
		{"", 24, 24, []int{24, 24, 24, 24, 12, 12, 2, 2}},
		{"", 25, 32, []int{32, 32, 32, 32, 16, 16, 2, 2}},
		{"", 28, 28, []int{32, 32, 32, 32, 16, 16, 2, 2}},
		{"", 32, 32, []int{32, 32, 32, 32, 16, 16, 2, 2}},
		{"", 33, 40, []int{33, 40, 33, 40, 16, 20, 2, 2}},
		{"", 64, 64, []int{64, 64, 32, 32, 16, 16, 2, 2}},
		{"", 105, 105, []int{105, 105, 52, 52, 26, 26, 2, 2}},
		{"", 224, 100, []int{224, 100, 56, 25, 28, 12, 2, 2}},
		{"paper-text", 28, 28, []int{28, 28, 28, 28, 14, 14, 1, 1}},
		{"paper-text", 32, 32, []int{32, 32, 32, 32, 16, 16, 2, 2}},
		{"paper-text", 105, 105, []int{105, 105, 52, 52, 26, 26, 2, 2}},
	} {
		m := build(t, Spec{Name: "cnn", Height: c.h, Width: c.w, Channels: 1, Units: 2, Filters: c.filters})
		var maps []int
		for _, l := range m.Describe() {
			if l.Kind == "Conv2D" || l.Name == "pool3" {
				maps = append(maps, l.Out[0], l.Out[1])
			}
		}
		if !slices.Equal(maps, c.maps) {
			t.Errorf("%s %dx%d: maps %v, want %v", c.filters, c.h, c.w, maps, c.maps)
		}
	}
}

func TestModelsEmbedUnitRows(t *testing.T) {
	for _, name := range Family.Names() {
		s := Spec{Name: name, Height: 28, Width: 28, Channels: 1, Embedding: 6, Normalize: true}
		if name == "mlp" || name == "cnn" || strings.HasPrefix(name, "resnet") {
			s.Units = 4
		}
		if name == "vit-s16" {
			s.Height, s.Width, s.Head = 32, 32, "linear"
		}
		m := build(t, s)
		if again := build(t, m.Spec()); again.Spec() != m.Spec() || again.ParamCount() != m.ParamCount() {
			t.Errorf("%s: built from %+v, again from %+v", name, m.Spec(), again.Spec())
		}
		x := images(2, m.in, rng.New(1, "x").Float64)
		z := m.Embed(x, Eval)
		if err := z.SameShape("embeddings", 2, 6); err != nil {
			t.Fatal(name, err)
		}
		for b := range 2 {
			var s float64
			for _, v := range z.Row(b) {
				s += float64(v) * float64(v)
			}
			if math.Abs(s-1) > 1e-5 {
				t.Errorf("%s: squared norm %v", name, s)
			}
		}
		if dx := m.Backward(z, Input); dx.SameShape("dx", x.Shape...) != nil {
			t.Errorf("%s: input gradient %v", name, dx.Shape)
		}
	}
}

// The last ReLU cuts embeddings at 0, and changes neither weights nor their number.
func TestFinalReLU(t *testing.T) {
	t.Parallel()
	s := Spec{Name: "mlp", Height: 28, Width: 28, Channels: 1}
	plain := build(t, s)
	s.FinalReLU = true
	cut := build(t, s)
	if cut.ParamCount() != 237_400 || !cut.Spec().FinalReLU {
		t.Errorf("%d parameters, %+v", cut.ParamCount(), cut.Spec())
	}
	x := array.New(3, 28, 28, 1)
	r := rng.New(4, "x")
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64())
	}
	below := 0
	want := plain.Embed(x, Eval)
	got := cut.Embed(x, Eval)
	for i, v := range want.Data {
		if v < 0 {
			v = 0
			below++
		}
		if got.Data[i] != v {
			t.Fatalf("number %d is %v, want %v", i, got.Data[i], v)
		}
	}
	if below == 0 || below == len(want.Data) {
		t.Errorf("%d of %d numbers were below 0", below, len(want.Data))
	}
}

func TestBuildIsSeeded(t *testing.T) {
	s := Spec{Name: "mlp", Height: 4, Width: 4, Channels: 1, Units: 5}
	a, b := build(t, s), build(t, s)
	c, err := Build(s, rng.New(2, "model"))
	if err != nil {
		t.Fatal(err)
	}
	w := func(m *Model) []float32 { return m.Params()[0].Value.Data }
	if !sameBits(w(a), w(b)) || sameBits(w(a), w(c)) {
		t.Fatal("weights do not follow the seed")
	}
}

func TestBuildRefuses(t *testing.T) {
	ok := Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1}
	for want, change := range map[string]func(*Spec){
		`unknown model "renset18"; did you mean "resnet18"?`:      func(s *Spec) { s.Name = "renset18" },
		`unknown model "transformer-xl"; valid: cnn, linear, mlp`: func(s *Spec) { s.Name = "transformer-xl" },
		`unknown model ""`:              func(s *Spec) { s.Name = "" },
		"height 0 is not in 1":          func(s *Spec) { s.Height = 0 },
		"channels -1":                   func(s *Spec) { s.Channels = -1 },
		"embedding -1":                  func(s *Spec) { s.Embedding = -1 },
		"units 999999999":               func(s *Spec) { s.Units = 999999999 },
		"has more than":                 func(s *Spec) { s.Units = 1 << 20 },
		`did you mean "paper-text"`:     func(s *Spec) { s.Filters = "paper-txt" },
		`unknown fc "3k"`:               func(s *Spec) { s.FC = "3k" },
		`did you mean "xavier-uniform"`: func(s *Spec) { s.Init = "xavier-unifrom" },
		"model c2f2 has no option units: it has none but":                           func(s *Spec) { s.Name, s.Units = "c2f2", 3 },
		"model resnet18 has no option fc: it has units, stem, pool, head, mean_std": func(s *Spec) { s.Name, s.FC = "resnet18", "k" },
		"fc 2k and embedding 3 both set":                                            func(s *Spec) { s.FC, s.Embedding = "2k", 3 },
		"model cnn has no option mean_std":                                          func(s *Spec) { s.MeanStd = &MeanStd{Mean: []float64{0.5}, Std: []float64{0.5}} },
		"mean_std: 3 means and 3 standard deviations for images of 1 channels": func(s *Spec) {
			s.Name, s.MeanStd = "resnet18", &MeanStd{Mean: make([]float64, 3), Std: []float64{1, 1, 1}}
		},
		"standard deviation 0 of channel 0": func(s *Spec) {
			s.Name, s.MeanStd = "resnet18", &MeanStd{Mean: make([]float64, 1), Std: make([]float64, 1)}
		},
		`unknown pool "mean"`: func(s *Spec) { s.Name, s.Pool = "resnet34", "mean" },
		`unknown head "mlp"`:  func(s *Spec) { s.Name, s.Head = "resnet50", "mlp" },
		"head none gives the 2048 features as they are, not an embedding of 3": func(s *Spec) { s.Name, s.Head, s.Embedding = "resnet50", "none", 3 },
		`unknown stem "large"`:                func(s *Spec) { s.Name, s.Stem = "resnet18", "large" },
		"model lenet on 8x8x1 images: conv2:": func(s *Spec) { s.Name, s.Height, s.Width = "lenet", 8, 8 },
	} {
		s := ok
		change(&s)
		if _, err := Build(s, rng.New(1, "model")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestCheckInput(t *testing.T) {
	m := build(t, Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 2})
	if err := m.CheckInput(array.New(3, 28, 28, 1)); err != nil {
		t.Error(err)
	}
	short := array.New(2, 28, 28, 1)
	short.Data = short.Data[:5]
	for want, x := range map[string]*array.Array{
		"got [3 28 27 1]":        array.New(3, 28, 27, 1),
		"got [3 784]":            array.New(3, 784),
		"got [0 28 28 1]":        array.New(0, 28, 28, 1),
		"got [1 28 28 3]":        array.New(1, 28, 28, 3),
		"got none":               nil,
		"hold 5 numbers, not 15": short,
	} {
		err := m.CheckInput(x)
		if !errors.Is(err, array.ErrShape) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		func() {
			defer func() {
				if v, ok := recover().(string); !ok || !strings.Contains(v, "nn: Embed: shape mismatch") {
					t.Errorf("Embed panics with %v", v)
				}
			}()
			m.Embed(x, Eval)
		}()
	}
}

func TestCheckBatchKnowsBatchNorm(t *testing.T) {
	x := array.New(1, 8, 8, 3)
	// Four halvings bring an 8x8 image to a 1x1 map.
	m := build(t, Spec{Name: "resnet18", Height: 8, Width: 8, Channels: 3, Units: 2})
	for _, mode := range []Mode{Eval, Frozen} {
		if err := m.CheckBatch(x, mode); err != nil {
			t.Error(err)
		}
	}
	if err := m.CheckBatch(x, Train); err == nil || !strings.Contains(err.Error(), "batch of one image") {
		t.Errorf("got %v", err)
	}
	if err := m.CheckBatch(array.New(2, 8, 8, 3), Train); err != nil {
		t.Error(err)
	}
	if err := build(t, Spec{Name: "c2f2", Height: 8, Width: 8, Channels: 3}).CheckBatch(x, Train); err != nil {
		t.Error(err)
	}
}

func TestInitializers(t *testing.T) {
	const in, out = 300, 200
	for _, c := range []struct {
		name       string
		variance   float64
		bound      float64 // of |w|; 0: normal
		biasBound  float64
		convFanIn  float64 // variance of a 3x3 convolution 50 -> 40 times this is 1
		convFanOut float64
	}{
		{"pytorch", 1.0 / 3 / in, 1 / math.Sqrt(in), 1 / math.Sqrt(in), 3, 0},
		{"xavier-uniform", 2.0 / (in + out), math.Sqrt(6.0 / (in + out)), 0, 0.5, 0.5},
		{"xavier-normal", 2.0 / (in + out), 0, 0, 0.5, 0.5},
		{"he-uniform", 2.0 / in, math.Sqrt(6.0 / in), 0, 0.5, 0},
		{"he-normal", 2.0 / in, 0, 0, 0.5, 0},
	} {
		l := NewSequential("s", NewConv2D("conv", 40, 3, 1, 0, false), NewFlatten("f"), NewLinear("skip", in, false), NewLinear("fc", out, true), NewBatchNorm2D("bn"))
		if _, err := l.OutShape([]int{3, 3, 50}); err != nil {
			t.Fatal(err)
		}
		for _, p := range l.Params() {
			p.fill(99) // nothing may keep an old value
		}
		if err := Initialize(l.Params(), c.name, rng.New(1, "init")); err != nil {
			t.Fatal(err)
		}
		moments := func(x []float32) (mean, variance, top float64) {
			for _, v := range x {
				mean += float64(v) / float64(len(x))
				variance += float64(v) * float64(v) / float64(len(x))
				top = math.Max(top, math.Abs(float64(v)))
			}
			return
		}
		by := map[string]*Param{}
		for _, p := range l.Params() {
			by[p.Name] = p
		}
		mean, variance, top := moments(by["fc.weight"].Value.Data)
		// 60,000 draws: a relative deviation of 3 % of the variance is beyond 4 sigma.
		if math.Abs(variance/c.variance-1) > 0.03 || math.Abs(mean) > 5*math.Sqrt(c.variance/(in*out)) {
			t.Errorf("%s: mean %v, variance %v, want 0, %v", c.name, mean, variance, c.variance)
		}
		if c.bound > 0 && (top > c.bound*(1+1e-6) || top < 0.99*c.bound) {
			t.Errorf("%s: largest %v, want just below %v", c.name, top, c.bound)
		}
		if c.bound == 0 && top < 3.5*math.Sqrt(c.variance) {
			t.Errorf("%s: largest %v: not a normal law", c.name, top)
		}
		if _, _, top := moments(by["fc.bias"].Value.Data); top > c.biasBound || top < 0.9*c.biasBound {
			t.Errorf("%s: largest bias %v, want just below %v", c.name, top, c.biasBound)
		}
		_, variance, _ = moments(by["conv.weight"].Value.Data)
		if want := 1 / (9 * (50*c.convFanIn + 40*c.convFanOut)); math.Abs(variance/want-1) > 0.05 {
			t.Errorf("%s: variance of a convolution %v, want %v", c.name, variance, want)
		}
		for name, want := range map[string]float32{"bn.weight": 1, "bn.bias": 0, "bn.running_mean": 0, "bn.running_var": 1} {
			for _, v := range by[name].Value.Data {
				if v != want {
					t.Fatalf("%s: %s is %v", c.name, name, v)
				}
			}
		}
	}
}
