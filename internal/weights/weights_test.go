package weights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/fault"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
	"tercet/internal/torchfile"
)

var specs = map[string]nn.Spec{
	"resnet18": {Name: "resnet18", Height: 64, Width: 64, Channels: 3, Units: 2, Stem: "imagenet", Embedding: 5},
	"cnn":      {Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 3},
	"mlp":      {Name: "mlp", Height: 6, Width: 5, Channels: 3, Units: 4},
}

func build(t testing.TB, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func golden(name string) string { return filepath.Join("testdata", name+".pth") }

// images are those of testdata/scripts/weights_golden.py.
func images(s nn.Spec) *array.Array {
	x := array.New(2, s.Height, s.Width, s.Channels)
	for i := range x.Data {
		x.Data[i] = float32(i*7919%251) / 251
	}
	return x
}

// PyTorch's networks with PyTorch's weights: the embeddings are PyTorch's.
func TestEmbeddingsOfPyTorchsWeights(t *testing.T) {
	t.Parallel()
	var want map[string][][]float64
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range specs {
		m := build(t, spec)
		f, err := Open(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Fill(m)
		if err != nil || r.Taken != len(m.Params()) || r.Missing != nil || r.Dropped != nil || r.OtherShape != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if under := map[string]string{"cnn": "state_dict.module"}[name]; r.Under != under || r.Format != Torch {
			t.Errorf("%s: under %q, format %s", name, r.Under, r.Format)
		}
		z := m.Embed(images(spec), nn.Eval)
		for i, row := range want[name] {
			for j, v := range row {
				if got := float64(z.Row(i)[j]); math.Abs(got-v) > 2e-5*max(1, math.Abs(v)) {
					t.Errorf("%s: embedding %d, %d is %g, want %g", name, i, j, got, v)
				}
			}
		}
	}
}

// tensors are those of the golden ResNet-18, in PyTorch's layout.
func tensorsIn(t testing.TB) []safetensors.Tensor {
	t.Helper()
	w, err := torchfile.ReadFile(golden("resnet18"))
	if err != nil {
		t.Fatal(err)
	}
	return w.Tensors
}

func write(t testing.TB, name string, f *safetensors.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fill changes the tensors of the golden ResNet-18, and fills a network of that spec
// with them.
func fill(t testing.TB, spec nn.Spec, change func(list []safetensors.Tensor) []safetensors.Tensor) (*record.StartWeights, *nn.Model, error) {
	t.Helper()
	list := tensorsIn(t)
	if change != nil {
		list = change(list)
	}
	f, err := Open(write(t, "a.safetensors", &safetensors.File{Tensors: list}))
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, spec)
	r, err := f.Fill(m)
	return r, m, err
}

func renamed(f func(string) string) func([]safetensors.Tensor) []safetensors.Tensor {
	return func(list []safetensors.Tensor) []safetensors.Tensor {
		for i := range list {
			list[i].Name = f(list[i].Name)
		}
		return list
	}
}

// The head is the only part that may have another shape or be missing; it keeps the
// weights that were drawn for it.
func TestTheHeadIsDrawnWhereItDoesNotFit(t *testing.T) {
	t.Parallel()
	spec := specs["resnet18"]
	spec.Embedding = 7
	plain := build(t, spec)
	head := func(m *nn.Model) []float32 {
		all := m.Params()
		return all[len(all)-2].Value.Data
	}
	r, m, err := fill(t, spec, nil)
	if err != nil || r.Taken != 100 || !slices.Equal(r.OtherShape, []string{"fc.weight (5, 16) in place of (7, 16)", "fc.bias (5,) in place of (7,)"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	if !slices.Equal(head(m), head(plain)) {
		t.Error("the head is not the one that was drawn")
	}
	r, m, err = fill(t, spec, func(list []safetensors.Tensor) []safetensors.Tensor {
		list = slices.DeleteFunc(list, func(x safetensors.Tensor) bool { return strings.HasPrefix(x.Name, "fc.") })
		return append(list, safetensors.Tensor{Name: "last_linear.bias", Shape: []int{1}, Data: []float32{1}})
	})
	if err != nil || !slices.Equal(r.Missing, []string{"fc.weight", "fc.bias"}) || !slices.Equal(r.Dropped, []string{"last_linear.bias"}) || !slices.Equal(head(m), head(plain)) {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"module.", "model.", "backbone.", "module.encoder.", "_model.net."} {
		r, _, err := fill(t, specs["resnet18"], renamed(func(s string) string { return prefix + s }))
		if err != nil || r.Taken != 102 || r.Under != strings.TrimSuffix(prefix, ".") {
			t.Errorf("%s: %+v, %v", prefix, r, err)
		}
	}
}

func TestFilesOfOtherNetworks(t *testing.T) {
	t.Parallel()
	gray := specs["resnet18"]
	gray.Channels = 1
	for name, c := range map[string]struct {
		spec   nn.Spec
		change func([]safetensors.Tensor) []safetensors.Tensor
		says   string
	}{
		"another width":    {nn.Spec{Name: "resnet18", Height: 64, Width: 64, Channels: 3, Units: 3, Stem: "imagenet"}, nil, "it is of another network"},
		"channels":         {gray, nil, "conv1.weight (2, 3, 7, 7) in place of (2, 1, 7, 7): the images have another number of channels"},
		"another model":    {specs["mlp"], nil, "none of its tensors"},
		"other names":      {specs["resnet18"], renamed(func(s string) string { return "x." + s }), "none of its tensors"},
		"a tensor missing": {specs["resnet18"], func(l []safetensors.Tensor) []safetensors.Tensor { return l[1:] }, "it lacks conv1.weight"},
		"deeper": {specs["resnet18"], func(l []safetensors.Tensor) []safetensors.Tensor {
			return append(l, safetensors.Tensor{Name: "layer1.2.conv1.weight", Shape: []int{1}, Data: []float32{1}})
		}, "it has layer1.2.conv1.weight besides"},
	} {
		_, m, err := fill(t, c.spec, c.change)
		if !errors.Is(err, fault.ErrUnfit) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
		for i, p := range build(t, c.spec).Params() {
			if !slices.Equal(p.Value.Data, m.Params()[i].Value.Data) {
				t.Errorf("%s: %s was changed", name, p.Name)
			}
		}
	}
}

func TestNumbersThatAreNoWeights(t *testing.T) {
	t.Parallel()
	at := func(name string, v float32, all bool) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(l []safetensors.Tensor) []safetensors.Tensor {
			for i := range l {
				if l[i].Name == name {
					l[i].Data[0] = v
					for j := range l[i].Data {
						if all {
							l[i].Data[j] = v
						}
					}
				}
			}
			return l
		}
	}
	for name, c := range map[string]struct {
		change func([]safetensors.Tensor) []safetensors.Tensor
		says   string
	}{
		"NaN":       {at("layer2.0.conv1.weight", float32(math.NaN()), false), "layer2.0.conv1.weight[0] is NaN"},
		"infinite":  {at("bn1.bias", float32(math.Inf(-1)), false), "bn1.bias[0] is -Inf"},
		"negative":  {at("bn1.running_var", -1, false), "a variance is not below 0"},
		"all zeros": {at("bn1.running_var", 0, true), "never taken"},
	} {
		if _, _, err := fill(t, specs["resnet18"], c.change); !errors.Is(err, fault.ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// A dead channel has a variance of 0.
	if _, _, err := fill(t, specs["resnet18"], at("bn1.running_var", 0, false)); err != nil {
		t.Error(err)
	}
}

// torchvision's files end in the first digits of their sum.
func TestTheSumInTheName(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(golden("resnet18"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(golden("resnet18"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for digits, ok := range map[string]bool{f.SHA256[:8]: true, "f37072fd": false} {
		path := filepath.Join(dir, fmt.Sprintf("resnet18-%s.pth", digits))
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); (err == nil) != ok || !ok && !errors.Is(err, fault.ErrFormat) {
			t.Errorf("%s: error %v", digits, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none.pth")); !errors.Is(err, fault.ErrMissing) {
		t.Errorf("no file: %v", err)
	}
}

// A checkpoint of Tercet has the network's own order of axes.
func TestTercetsCheckpoints(t *testing.T) {
	t.Parallel()
	from := build(t, specs["cnn"])
	file := &safetensors.File{Meta: map[string]string{"format": record.UnsealedCheckpointFormat}}
	for i, p := range from.Params() {
		for j := range p.Value.Data {
			p.Value.Data[j] = float32(i + j + 1)
		}
		file.Tensors = append(file.Tensors, safetensors.Tensor{Name: "model/" + p.Name, Shape: p.Value.Shape, Data: p.Value.Data})
	}
	file.Tensors = append(file.Tensors, safetensors.Tensor{Name: "optim/m/fc.weight", Shape: []int{1}, Data: []float32{1}})
	f, err := Open(write(t, "last.safetensors", file))
	if err != nil {
		t.Fatal(err)
	}
	to := build(t, specs["cnn"])
	r, err := f.Fill(to)
	if err != nil || r.Taken != len(to.Params()) || r.Format != Checkpoint || r.Dropped != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, p := range from.Params() {
		if !slices.Equal(p.Value.Data, to.Params()[i].Value.Data) {
			t.Errorf("%s differs", p.Name)
		}
	}
}

// AnySize is for networks whose weights do not depend on the size of images.
func TestAnySize(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"resnet18": true, "cnn": false, "mlp": false} {
		f, err := Open(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		s := specs[name]
		s.Height, s.Width, s.Channels = 0, 0, 0
		m, err := f.AnySize(s)
		if err != nil || (m != nil) != want {
			t.Errorf("%s: %v, %v", name, m, err)
		}
		if m != nil {
			if _, err := f.Fill(m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestUnnormalizedPixels(t *testing.T) {
	t.Parallel()
	usual := nn.Spec{Name: "resnet18", Channels: 3}
	for _, c := range []struct {
		format  string
		channel int
		meanStd *nn.MeanStd
		want    bool
	}{
		{Torch, 3, nil, true}, {Safetensors, 3, nil, true}, {Checkpoint, 3, nil, false}, {Torch, 1, nil, false}, {Torch, 3, &nn.MeanStd{}, false},
	} {
		s := usual
		s.Channels, s.MeanStd = c.channel, c.meanStd
		if got := Unnormalized(&record.StartWeights{Format: c.format}, s); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
