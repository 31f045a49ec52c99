package bound

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// models are small networks with every kind of layer that has bounds.
var models = map[string]nn.Spec{
	"linear":    {Name: "linear", Height: 3, Width: 4, Channels: 1, Embedding: 5},
	"mlp":       {Name: "mlp", Height: 4, Width: 4, Channels: 1, Units: 12, Embedding: 6, Normalize: true},
	"mlp relu":  {Name: "mlp", Height: 4, Width: 4, Channels: 1, Units: 12, Embedding: 6, FinalReLU: true},
	"c2f2":      {Name: "c2f2", Height: 9, Width: 8, Channels: 1, Embedding: 7, Normalize: true},
	"cnn":       {Name: "cnn", Height: 14, Width: 12, Channels: 2, Units: 3, Embedding: 5},
	"cnn pad":   {Name: "cnn", Height: 27, Width: 28, Channels: 1, Units: 2, Embedding: 4},
	"resnet18":  {Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Embedding: 6, Pool: "avg+max", MeanStd: &nn.MeanStd{Mean: []float64{0.5, 0.4, 0.3}, Std: []float64{0.2, 0.3, 0.4}, BGR: true}},
	"no linear": {Name: "resnet18", Height: 16, Width: 16, Channels: 1, Units: 4, Head: "none"},
}

// build makes a network whose batch norms have statistics and whose biases are not 0.
func build(t testing.TB, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(3, "bound"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(4, "bound")
	for _, p := range m.Params() {
		switch {
		case strings.HasSuffix(p.Name, "running_var"):
			for i := range p.Value.Data {
				p.Value.Data[i] = 0.3 + r.Float32()
			}
		case strings.HasSuffix(p.Name, "bias"), strings.HasSuffix(p.Name, "running_mean"):
			for i := range p.Value.Data {
				p.Value.Data[i] = 0.4*r.Float32() - 0.2
			}
		}
	}
	return m
}

// pictures are images some of whose pixels are exactly 0 or 1.
func pictures(m *nn.Model, n int) *array.Array {
	s := m.Spec()
	x := array.New(n, s.Height, s.Width, s.Channels)
	r := rng.New(5, "bound")
	for i := range x.Data {
		x.Data[i] = min(1, max(0, 1.4*r.Float32()-0.2))
	}
	return x
}

// raw returns the embeddings of x before they are normalized.
func raw(m *nn.Model, x *array.Array) *array.Array {
	m.LeaveRaw([2]int{0, x.Rows()})
	return m.Embed(x, nn.Eval).Clone()
}

func same32(eps float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = eps
	}
	return out
}

// No image within the ball leaves the bounds: not the float32 output of random images,
// random corners, or the image itself at eps 0. At eps 0 bounds of
// networks of few layers are as narrow as rounding.
func TestNothingLeavesTheBounds(t *testing.T) {
	t.Parallel()
	for name, s := range models {
		m := build(t, s)
		net, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		x := pictures(m, 2)
		r := rng.New(6, name)
		for _, eps := range []float64{0, 1e-4, 0.02, 0.3} {
			u := net.Embeddings(net.Features(x, []float64{eps, eps / 2}))
			for draw := range 40 {
				y := x.Clone()
				for i := range y.Data {
					e := eps
					if i >= len(y.Data)/2 {
						e = eps / 2
					}
					step := float64(2*r.Float64()-1) * e
					if draw%2 == 0 {
						step = math.Copysign(e, step)
					}
					v := min(1, max(0, float64(x.Data[i])+step))
					y.Data[i] = float32(v)
					if math.Abs(float64(y.Data[i])-float64(x.Data[i])) > e { // rounded out of the ball
						y.Data[i] = math.Nextafter32(y.Data[i], x.Data[i])
					}
				}
				z := raw(m, y)
				for i := range 2 {
					for k, v := range z.Row(i) {
						lo, hi := u.Bounds(i, k)
						if !(lo <= float64(v) && float64(v) <= hi) {
							t.Fatalf("%s, eps %v: output %v of coordinate %d is not in [%v, %v]", name, eps, v, k, lo, hi)
						}
						if wide := hi - lo; eps == 0 && s.Name != "resnet18" && !(wide < 2e-2*(1+math.Abs(float64(v)))) {
							t.Fatalf("%s: at eps 0 coordinate %d is in [%v, %v]", name, k, lo, hi)
						}
					}
				}
			}
		}
	}
}

// Bounds are those of a plain float64 computation from the definitions of the layers, up
// to what float32 loses.
func TestBoundsAgainstPlainFloat64(t *testing.T) {
	t.Parallel()
	for name, s := range models {
		m := build(t, s)
		net, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		x := pictures(m, 2)
		for _, eps := range []float64{0.01, 0.2} {
			got := net.Embeddings(net.Features(x, same32(eps, 2)))
			for i := range 2 {
				lo, hi := plainBounds(t, m, x.Row(i), eps)
				for k := range lo {
					l, h := got.Bounds(i, k)
					wide := hi[k] - lo[k]
					if l > lo[k] || h < hi[k] || h-l > 1.01*wide {
						t.Fatalf("%s, eps %v, coordinate %d: [%v, %v], plain [%v, %v]", name, eps, k, l, h, lo[k], hi[k])
					}
				}
			}
		}
	}
}

// The bounds of a linear map are exact: each end is that of a corner.
func TestLinearBounds(t *testing.T) {
	t.Parallel()
	m := build(t, models["linear"])
	net, _ := New(m)
	x := pictures(m, 1)
	const eps = 0.07
	u := net.Embeddings(net.Features(x, []float64{eps}))
	w := m.Params()[0].Value
	for k := range m.Dim() {
		lo, hi := 0.0, 0.0
		for i, v := range x.Data {
			a, b := max(0, float64(v)-eps), min(1, float64(v)+eps)
			slope := float64(w.Data[i*m.Dim()+k])
			lo += min(slope*a, slope*b)
			hi += max(slope*a, slope*b)
		}
		l, h := u.Bounds(0, k)
		if l > lo || h < hi || lo-l > 1e-5 || h-hi > 1e-5 {
			t.Errorf("coordinate %d: [%v, %v], want [%v, %v]", k, l, h, lo, hi)
		}
	}
}

// The bits depend on the image alone: not on the batch and not on threads.
func TestBoundsHaveTheSameBits(t *testing.T) {
	m := build(t, models["c2f2"])
	x := pictures(m, 5)
	all := func(threads int, parts ...int) []float32 {
		defer par.SetThreads(0)
		par.SetThreads(threads)
		net, _ := New(m)
		var out []float32
		lo := 0
		for _, n := range parts {
			u := net.Embeddings(net.Features(x.Slice(lo, lo+n), same32(0.1, n)))
			out = append(append(out, u.C.Data...), u.R.Data...)
			lo += n
		}
		return out
	}
	one, two := all(1, 1, 1, 1, 1, 1), all(2, 1, 1, 1, 1, 1)
	whole := all(2, 5)
	d := m.Dim()
	for i := range 5 {
		for k := range d {
			if one[2*i*d+k] != two[2*i*d+k] || one[2*i*d+k] != whole[i*d+k] || one[(2*i+1)*d+k] != whole[(5+i)*d+k] {
				t.Fatalf("image %d, coordinate %d: %v, %v, %v", i, k, one[2*i*d+k], two[2*i*d+k], whole[i*d+k])
			}
		}
	}
}

// A layer without bounds is named.
func TestNoBounds(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]nn.Spec{
		"layernorm": {Name: "resnet18", Height: 16, Width: 16, Channels: 1, Units: 4, Embedding: 32, Head: "layernorm"},
		"":          {Name: "vit-s16", Height: 16, Width: 16, Channels: 3},
	} {
		m, err := nn.Build(s, rng.New(1, "bound"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(m); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "layer "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
