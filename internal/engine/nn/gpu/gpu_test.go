//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tercet/internal/device"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

func TestMain(m *testing.M) {
	name := os.Getenv("TERCET_DEVICE")
	if name == "" {
		name = device.OpenCL
	}
	info, err := Open(name)
	if err != nil {
		fmt.Println("device", name+":", err)
		os.Exit(1)
	}
	fmt.Println(info.Setting())
	os.Exit(m.Run())
}

// networks have, between them, every step that devices have kernels for.
var networks = []struct {
	name string
	spec nn.Spec
	rows int
}{
	{"mlp", nn.Spec{Name: "mlp", Height: 5, Width: 3, Channels: 2, Units: 24, Embedding: 9}, 17},
	{"c2f2", nn.Spec{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Embedding: 16, Normalize: true}, 7},
	{"lenet", nn.Spec{Name: "lenet", Height: 20, Width: 18, Channels: 1, Normalize: true}, 4},
	{"cnn", nn.Spec{Name: "cnn", Height: 13, Width: 12, Channels: 1, Units: 5, Embedding: 8, Normalize: true}, 9},
	{"cnn padded", nn.Spec{Name: "cnn", Height: 28, Width: 28, Channels: 1, Units: 3, Embedding: 8}, 5},
	{"resnet18", nn.Spec{Name: "resnet18", Height: 20, Width: 17, Channels: 3, Units: 4, Embedding: 8, Normalize: true, Stem: "imagenet",
		MeanStd: &nn.MeanStd{Mean: []float64{0.48, 0.45, 0.4}, Std: []float64{0.2, 0.22, 0.3}, BGR: true}}, 10},
	{"resnet18 layernorm", nn.Spec{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Embedding: 8, Pool: "avg+max", Head: "layernorm-linear"}, 12},
	{"resnet50", nn.Spec{Name: "resnet50", Height: 16, Width: 16, Channels: 3, Units: 2, Embedding: 8, Pool: "max"}, 12},
}

// built returns a network with running statistics that are not those it begins with.
func built(t testing.TB, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(2, "gpu"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(3, "statistics")
	for _, p := range m.Params() {
		if len(p.Value.Shape) == 1 {
			for i := range p.Value.Data {
				p.Value.Data[i] += 0.2 * float32(r.Float64())
			}
		}
	}
	return m
}

func attached(t testing.TB, s nn.Spec) *nn.Model {
	m := built(t, s)
	if err := Attach(m); err != nil {
		t.Fatal(err)
	}
	return m
}

func batch(s nn.Spec, rows, dim int, seed uint64) (x, dz *array.Array) {
	r := rng.New(seed, "batch", uint64(rows))
	x, dz = array.New(rows, s.Height, s.Width, s.Channels), array.New(rows, dim)
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	for i := range dz.Data {
		dz.Data[i] = float32(r.NormFloat64())
	}
	return x, dz
}

// pass is what a pass leaves, by the names of its tensors.
type pass map[string][]float32

func run(m *nn.Model, x, dz *array.Array, mode nn.Mode, need nn.Need) pass {
	out := pass{}
	keep := func(name string, x []float32) { out[name] = append([]float32(nil), x...) }
	for _, p := range m.Params() {
		if p.Trained() {
			clear(p.Grad.Data)
			if p.Store != nil {
				p.Store.ZeroGrad(p)
			}
		}
	}
	keep("embeddings", m.Embed(x, mode).Data)
	if dx := m.Backward(dz, need); dx != nil {
		keep("gradient of images", dx.Data)
	}
	for _, p := range m.Params() {
		switch {
		case !p.Trained():
			keep(p.Name, p.Value.Data)
		case need&nn.Weights != 0:
			if p.Store != nil {
				p.Store.FetchGrad(p)
			}
			keep("gradient of "+p.Name, p.Grad.Data)
		}
	}
	return out
}

// sum is that of a gradient's terms, and of their magnitudes.
type sum struct{ value, magnitude float64 }

func (s *sum) add(v float64) {
	s.value += v
	s.magnitude += math.Abs(v)
}

// watched are the gradients of parameters, by their names.
type watched map[string][]sum

// watch computes them in plain loops in float64, from what the device has of inputs and
// gradients.
func (w watched) watch(t *testing.T, e *engine) {
	e.watch = func(st *step, dy gradient, rows, c int) {
		get := func(b device.Buffer, n int) []float64 {
			x, out := make([]float32, n), make([]float64, n)
			if err := e.Download(bytes(x), b); err != nil {
				t.Fatal(err)
			}
			for i, v := range x {
				out[i] = float64(v)
			}
			return out
		}
		g, x := get(dy.at, rows*c), get(e.input(st.from), e.rows*count(st.in))
		weight, bias := make([]sum, len(st.first.Value.Data)), make([]sum, c)
		for i, v := range g {
			bias[i%c].add(v)
		}
		switch st.Kind {
		case nn.OpLinear:
			for i, v := range g {
				for k := range st.Inner {
					weight[k*c+i%c].add(v * x[i/c*st.Inner+k])
				}
			}
		case nn.OpConv:
			for i, v := range g {
				p := i / c
				ow, oh, b := p%st.Shape[1], p/st.Shape[1]%st.Shape[0], p/st.Shape[1]/st.Shape[0]
				for k := range len(weight) / c {
					ch, kw, kh := k%st.in[2], k/st.in[2]%st.Kernel[1], k/st.in[2]/st.Kernel[1]
					y, z := oh*st.Stride[0]+kh-st.Pad[0], ow*st.Stride[0]+kw-st.Pad[0]
					if y >= 0 && y < st.in[0] && z >= 0 && z < st.in[1] {
						weight[k*c+i%c].add(v * x[((b*st.in[0]+y)*st.in[1]+z)*st.in[2]+ch])
					}
				}
			}
		case nn.OpBatchNorm:
			f := make([]float64, 4*c)
			if err := e.Download(bytes(f), st.extra.at); err != nil {
				t.Fatal(err)
			}
			for i, v := range g {
				weight[i%c].add(v * (x[i] - f[i%c]) * f[c+i%c])
			}
		}
		w[st.first.Name] = weight
		if st.other != nil {
			w[st.other.Name] = bias
		}
	}
}

// units is the largest difference of two tensors in units of 2^-24 of the root mean square
// of their sums of magnitudes, or without these of the first.
func units(a, b []float32, sums []sum) (worst float64) {
	squares := 0.0
	for i, v := range a {
		if sums != nil {
			squares += sums[i].magnitude * sums[i].magnitude
		} else {
			squares += float64(v) * float64(v)
		}
	}
	by := math.Sqrt(squares/float64(len(a))) * 0x1p-24
	for i, v := range a {
		if d := math.Abs(float64(v) - float64(b[i])); d != d || math.IsInf(d, 0) {
			return math.Inf(1)
		} else if d > 0 {
			worst = max(worst, d/by)
		}
	}
	return worst
}

// exactly is the largest error of a gradient, in units of 2^-24 of each sum of magnitudes.
func exactly(got []float32, sums []sum) (worst float64) {
	for i, s := range sums {
		if d := math.Abs(float64(got[i]) - s.value); d > 1e-40 {
			worst = max(worst, d/(s.magnitude*0x1p-24))
		}
	}
	return worst
}

var modes = []struct {
	name string
	mode nn.Mode
	need nn.Need
}{
	{"eval", nn.Eval, nn.Input}, {"train", nn.Train, nn.Weights}, {"train and images", nn.Train, nn.Weights | nn.Input},
	{"batch statistics", nn.BatchStats, nn.Input}, {"frozen", nn.Frozen, nn.Weights},
}

const (
	// limit is the largest error of a gradient, in units of 2^-24 of the sum of magnitudes
	// of its terms.
	limit = 8
	// asFar is how much farther a device may be from the CPU's assembly than the CPU's plain
	// Go kernels are, which add in another order.
	asFar = 4
)

// largest keeps the largest number and its name.
type largest struct {
	value float64
	name  string
}

func (l *largest) see(v float64, name string) {
	if v > l.value || v != v {
		l.value, l.name = v, name
	}
}

func TestPassesAgainstTheCPU(t *testing.T) {
	plainly := func(f func()) {
		restore, err := kernel.Force(kernel.Generic)
		if err != nil {
			t.Fatal(err)
		}
		f()
		restore()
	}
	for _, n := range networks {
		for _, c := range modes {
			t.Run(n.name+"/"+c.name, func(t *testing.T) {
				cpu, plain, gpu := built(t, n.spec), built(t, n.spec), attached(t, n.spec)
				cpu.ComputeDirectly()
				plain.ComputeDirectly()
				sums := watched{}
				sums.watch(t, gpu.Engine().(*engine))
				for step := range 2 { // the second with buffers that exist, and fewer rows
					rows := n.rows - 2*step
					x, dz := batch(n.spec, rows, cpu.Dim(), uint64(step))
					var ref pass
					plainly(func() { ref = run(plain, x, dz, c.mode, c.need) })
					a, b := run(cpu, x, dz, c.mode, c.need), run(gpu, x, dz, c.mode, c.need)
					var exact, apart, own largest
					for name, want := range a {
						terms := sums[strings.TrimPrefix(name, "gradient of ")]
						if terms != nil {
							exact.see(exactly(b[name], terms), name)
						}
						apart.see(units(want, b[name], terms), name)
						own.see(units(want, ref[name], terms), name)
					}
					t.Logf("gradients have errors of %.2f units (%s); %.0f units from the CPU (%s), whose kernels differ by %.0f (%s)",
						exact.value, exact.name, apart.value, apart.name, own.value, own.name)
					if !(exact.value < limit) {
						t.Errorf("step %d: %s has an error of %.3g units", step, exact.name, exact.value)
					}
					if !(apart.value < asFar*min(own.value, 4000)+limit) {
						t.Errorf("step %d: %s is %.3g units from the CPU", step, apart.name, apart.value)
					}
				}
			})
		}
	}
}
