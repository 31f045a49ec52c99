package export

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/imaging/shard"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
	"tercet/internal/torchfile"
	"tercet/internal/weights"
)

var about = About{Run: "r", Checkpoint: "last", Step: 3, Version: "1"}

// build makes the network s with running statistics that are not those of the start.
func build(t testing.TB, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(2, "statistics")
	for _, p := range m.Params() {
		for i := range p.Value.Data {
			switch {
			case strings.HasSuffix(p.Name, ".running_mean"):
				p.Value.Data[i] = float32(r.Uniform(-0.3, 0.3))
			case strings.HasSuffix(p.Name, ".running_var"):
				p.Value.Data[i] = float32(r.Uniform(0.5, 1.5))
			}
		}
	}
	return m
}

// specs are networks with every step that can be exported.
func specs() map[string]nn.Spec {
	color := nn.Spec{Height: 33, Width: 37, Channels: 3, Units: 2, Embedding: 5, Stem: "imagenet", Normalize: true}
	out := map[string]nn.Spec{
		"linear":     {Name: "linear", Height: 4, Width: 5, Channels: 2, Embedding: 3},
		"mlp":        {Name: "mlp", Height: 4, Width: 5, Channels: 2, Units: 6, FinalReLU: true},
		"cnn":        {Name: "cnn", Height: 27, Width: 28, Channels: 1, Units: 2, Normalize: true},
		"paper-text": {Name: "cnn", Height: 15, Width: 14, Channels: 1, Units: 2, Filters: "paper-text"},
		"lenet":      {Name: "lenet", Height: 17, Width: 16, Channels: 1, Embedding: 4},
		"c2f2":       {Name: "c2f2", Height: 8, Width: 8, Channels: 2, Embedding: 4},
	}
	for name, change := range map[string]func(*nn.Spec){
		"resnet18": func(s *nn.Spec) { s.Name = "resnet18" },
		"resnet50": func(s *nn.Spec) {
			s.Name, s.Pool, s.Head = "resnet50", "avg+max", "layernorm-linear"
			s.MeanStd = &nn.MeanStd{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.2, 0.3, 0.4}, BGR: true}
		},
		"resnet34": func(s *nn.Spec) {
			s.Name, s.Stem, s.Pool, s.Head, s.Embedding = "resnet34", "small", "max", "none", 0
			s.MeanStd = &nn.MeanStd{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.2, 0.3, 0.4}}
		},
	} {
		s := color
		change(&s)
		out[name] = s
	}
	return out
}

func images(s nn.Spec, n int) *array.Array {
	x := array.New(n, s.Height, s.Width, s.Channels)
	for i := range x.Data {
		x.Data[i] = float32(i*7919%251) / 251
	}
	return x
}

// PyTorch's weights come back as they were, to the bit, with counters set to 0.
func TestWeightsComeBack(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]nn.Spec{
		"resnet18": {Name: "resnet18", Height: 64, Width: 64, Channels: 3, Units: 2, Stem: "imagenet", Embedding: 5},
		"cnn":      {Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 3},
		"mlp":      {Name: "mlp", Height: 6, Width: 5, Channels: 3, Units: 4},
	} {
		path := filepath.Join("..", "weights", "testdata", name+".pth")
		want, err := torchfile.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := weights.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		m := build(t, spec)
		if _, err := f.Fill(m); err != nil {
			t.Fatal(err)
		}
		got := StateDict(m)
		if len(got) != len(want.Tensors) {
			t.Fatalf("%s: %d tensors, want %d", name, len(got), len(want.Tensors))
		}
		for i, w := range want.Tensors {
			g := got[i]
			if g.Name != strings.TrimPrefix(w.Name, "module.") || !slices.Equal(g.Shape, w.Shape) {
				t.Errorf("%s: tensor %d is %s %v, want %s %v", name, i, g.Name, g.Shape, w.Name, w.Shape)
			}
			if g.Integers != strings.HasSuffix(g.Name, ".num_batches_tracked") || g.Integers && g.Data[0] != 0 {
				t.Errorf("%s: %s is %v, integers %v", name, g.Name, g.Data, g.Integers)
			}
			for j, v := range g.Data {
				if !g.Integers && math.Float32bits(v) != math.Float32bits(w.Data[j]) {
					t.Fatalf("%s: %s[%d] is %g, want %g", name, g.Name, j, v, w.Data[j])
				}
			}
		}
	}
}

// torchvision has the network where it is of the usual width on color images. What the
// programs compute is checked by testdata/scripts/check_export.py.
func TestPrograms(t *testing.T) {
	t.Parallel()
	usual := nn.Spec{Name: "resnet18", Height: 64, Width: 64, Channels: 3, Embedding: 7, Stem: "imagenet", Normalize: true,
		MeanStd: &nn.MeanStd{Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}}
	for name, c := range map[string]struct {
		spec  nn.Spec
		lines []string
		never string
	}{
		"usual": {usual, []string{
			"self.net = torchvision.models.resnet18(num_classes=7)",
			`self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(1, -1, 1, 1), persistent=False)`,
			"x = (x - self.mean) / self.std", "return F.normalize(self.net(x))",
		}, "class Net"},
		"narrow": {specs()["resnet18"], []string{
			`put(self, "layer2.0.downsample.0", nn.Conv2d(2, 4, 1, 2, 0, bias=False))`, "self.fc = nn.Linear(16, 5, bias=True)",
			`x = self.get_submodule("layer1.0.conv1")(x)`,
		}, "torchvision"},
		"blue first": {specs()["resnet50"], []string{"x = x.flip(1)", "x = F.layer_norm(x, (64,), eps=1e-05)", "x = s172 + x"}, "torchvision"},
		"cnn":        {specs()["cnn"], []string{"x = F.pad(x, (2, 2, 2, 3))", "x = F.max_pool2d(x, (8, 8), (8, 8), (0, 0))"}, "put"},
	} {
		text, err := Program(build(t, c.spec), about)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, l := range c.lines {
			if !strings.Contains(text, l+"\n") {
				t.Errorf("%s: no line %q in\n%s", name, l, text)
			}
		}
		if strings.Contains(text, c.never) {
			t.Errorf("%s: there is %q in\n%s", name, c.never, text)
		}
	}
}

// The steps are those of evaluation: data.transform.test where the config has it, else
// its older keys.
func TestPreprocess(t *testing.T) {
	t.Parallel()
	load := func(text string) *config.Config {
		cfg, err := config.LoadBytes([]byte(text), "c.yaml", nil)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	s := nn.Spec{Height: 224, Width: 224, Channels: 3}
	of := func(cfg *config.Config) printed.Preprocess {
		t.Helper()
		p, err := preprocessOf(cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got := of(load("data: {name: folder, root: x, transform: {test: ['Resize(256)', 'CenterCrop(224)']}}"))
	if !slices.Equal(got.Steps, []string{"Resize(256)", "CenterCrop(224)"}) || got.Resize != 0 || got.Interpolation != "" || got.Color != "RGB" {
		t.Errorf("%+v", got)
	}
	s.Channels = 1
	got = of(load("data: {name: folder, root: x, size: 256, fit: short, crop: 224}"))
	if got.Steps != nil || got.Resize != 256 || got.Fit != "short" || got.Crop != 224 || got.Interpolation != "bicubic" || got.Color != "L" {
		t.Errorf("%+v", got)
	}
	// Images of a packed file were resized before: others have to be, too.
	root, file := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "x.tshard")
	for _, name := range []string{"train/a/1.png", "train/a/2.png", "train/b/1.png", "train/b/2.png", "test/a/1.png", "test/a/2.png"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := data.Options{Source: data.FolderOptions{Root: root, Train: "train", Test: "test"}, Split: data.Split{Kind: "none"}}
	if _, err := data.Pack(t.Context(), o, file, shard.Params{Fit: "short", Size: 36, Interpolation: "bilinear"}, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	got = of(load("data: {name: folder, root: x, transform: {test: ['CenterCrop(32)'], packed: " + file + "}}"))
	if len(got.Steps) != 2 || !strings.HasPrefix(got.Steps[0], "Resize(size=36,") || got.Steps[1] != "CenterCrop(32)" {
		t.Errorf("%q", got.Steps)
	}
}

func ExampleStateDict() {
	m, err := nn.Build(nn.Spec{Name: "mlp", Height: 2, Width: 2, Channels: 1, Units: 3}, rng.New(1, "init"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range StateDict(m) {
		fmt.Println(t.Name, t.Shape)
	}
	// Output:
	// fc1.weight [3 4]
	// fc1.bias [3]
	// fc2.weight [3 3]
	// fc2.bias [3]
	// fc3.weight [3 3]
	// fc3.bias [3]
}
