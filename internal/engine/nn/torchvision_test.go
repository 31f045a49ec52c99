package nn

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/tensors"
	"tercet/internal/testutil"
)

// torchvision is what PyTorch computes of ResNets whose weights and images both sides
// draw by a hash: testdata/scripts/torchvision_golden.py says what is in it.
type torchvision struct {
	Seed, Side int
	Nets       map[string]struct {
		State        [][2]any // name and shape, in order
		Square, Wide packed
		Variants     []struct {
			Pool, Head string
			Z          packed
		}
		Frozen, Train gradientsOf
	}

	weights sync.Map // of weight
}

// gradientsOf are those of a triplet loss, in float64.
type gradientsOf struct {
	Images         string // name of the batch
	Loss           float64
	Embeddings     packed
	Grads, Running map[string]sampled
}

// packed is base64 of little-endian float32.
type packed string

func (p packed) numbers(t *testing.T) []float64 {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(string(p))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(b)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out
}

// sampled is a tensor at the places that its name gives, with its norm.
type sampled struct {
	Norm, Max float64
	At        packed
}

// hashed is the script's function of that name.
func (g *torchvision) hashed(name string, n int) []float64 {
	out := make([]float64, n)
	first := uint64(crc32.ChecksumIEEE([]byte(name)))<<24 + uint64(g.Seed)<<56
	for i := range out {
		z := first + uint64(i)
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		out[i] = float64(z>>40) / (1 << 24)
	}
	return out
}

// draw is the script's function of that name: numbers in PyTorch's order.
func (g *torchvision) draw(name string, shape []int) []float32 {
	out := make([]float32, size(shape))
	bound := 0.0
	if len(shape) > 1 {
		bound = math.Sqrt(6 / float64(size(shape[1:])))
	}
	for i, u := range g.hashed(name, len(out)) {
		switch {
		case bound > 0:
			out[i] = float32((2*u - 1) * bound)
		case strings.HasSuffix(name, "bn2.weight"), strings.HasSuffix(name, "bn3.weight"):
			out[i] = float32(0.1 + 0.2*u)
		case strings.HasSuffix(name, "running_var"), strings.HasSuffix(name, "weight"):
			out[i] = float32(0.5 + u)
		default:
			out[i] = float32(0.4*u - 0.2)
		}
	}
	return out
}

func (g *torchvision) images(name string, n, h, w int) *array.Array {
	u := g.hashed(name, n*h*w*3)
	return images(n, []int{h, w, 3}, func() float64 { v := u[0]; u = u[1:]; return v })
}

// net builds the network and draws its weights.
func (g *torchvision) net(t *testing.T, s Spec, h, w int) *Model {
	t.Helper()
	s.Height, s.Width, s.Channels = h, w, 3
	if s.Name != "vit-s16" {
		s.Stem = "imagenet"
	}
	m, err := Build(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	params := m.Params()
	for i, p := range m.TorchTensors() {
		if !strings.HasPrefix(p.Name, "mean_std.") {
			copy(params[i].Value.Data, g.weight(p))
		}
	}
	return m
}

// weight is a tensor's draw in our order of axes. Networks of one test share them.
func (g *torchvision) weight(p TorchTensor) []float32 {
	drawn, _ := g.weights.LoadOrStore(fmt.Sprint(p.Name, p.Shape), sync.OnceValue(func() []float32 { return tensors.Restore(g.draw(p.Name, p.Shape), p.View, p.Axes) }))
	return drawn.(func() []float32)()
}

// goldenFile is another file of the script's: make backbones sets it.
const goldenFile = "TERCET_TORCHVISION"

// stored is what readTorchvision read, with the weights drawn so far, for all tests.
var stored struct {
	sync.Once
	torchvision
}

func readTorchvision(t *testing.T) *torchvision {
	t.Helper()
	if testing.Short() {
		t.Skip("networks of their true size: minutes with plain Go kernels")
	}
	stored.Do(func() {
		testutil.ReadJSON(t, cmp.Or(os.Getenv(goldenFile), "testdata/torchvision.json"), &stored.torchvision)
		if len(stored.Nets) != 3 {
			t.Fatalf("%d networks", len(stored.Nets))
		}
		if testutil.Trials(2, 3) == 2 {
			delete(stored.Nets, "resnet34") // has the blocks of resnet18
		}
	})
	return &stored.torchvision
}

// sameState fails where tensors have other names or shapes than a state dict.
func sameState(t *testing.T, tensors []TorchTensor, state [][2]any) {
	t.Helper()
	if len(tensors) != len(state) {
		t.Fatalf("%d tensors, torchvision has %d", len(tensors), len(state))
	}
	here := map[string][]int{}
	for _, p := range tensors {
		here[p.Name] = p.Shape
	}
	for _, s := range state {
		var shape []int
		for _, d := range s[1].([]any) {
			shape = append(shape, int(d.(float64)))
		}
		if !slices.Equal(here[s[0].(string)], shape) {
			t.Errorf("%v has shape %v, torchvision's %v", s[0], here[s[0].(string)], shape)
		}
	}
}

// within fails where max|got-want| exceeds tol max|want|.
func within(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	worst, scale := 0.0, 0.0
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range want {
		worst, scale = max(worst, math.Abs(float64(got[i])-v)), max(scale, math.Abs(v))
	}
	if !(worst <= tol*scale) {
		t.Errorf("%s: off by %.3g of the largest number, want %.3g", what, worst/scale, tol)
	}
	t.Logf("%s: off by %.2g of the largest number", what, worst/scale)
}

// Names, shapes and outputs are torchvision's, on square and on other images.
func TestResNetsAgainstTorchvision(t *testing.T) {
	t.Parallel()
	g := readTorchvision(t)
	for name, want := range g.Nets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := g.net(t, Spec{Name: name, Embedding: 512}, 224, 224)
			sameState(t, m.TorchTensors(), want.State)
			within(t, "224x224", m.Embed(g.images("square", 2, 224, 224), Eval).Data, want.Square.numbers(t), 1e-4)
			m = g.net(t, Spec{Name: name, Embedding: 512}, 97, 131)
			within(t, "97x131", m.Embed(g.images("wide", 1, 97, 131), Eval).Data, want.Wide.numbers(t), 1e-4)
			for _, v := range want.Variants {
				s := Spec{Name: name, Pool: v.Pool, Head: v.Head, MeanStd: Standards.All()[1].Defaults.MeanStd()}
				m := g.net(t, s, 97, 131)
				within(t, v.Pool+" "+v.Head, m.Embed(g.images("wide", 1, 97, 131), Eval).Data, v.Z.numbers(t), 1e-4)
			}
		})
	}
}
