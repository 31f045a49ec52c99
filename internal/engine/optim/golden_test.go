package optim

import (
	"math"
	"sort"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/testutil"
)

// golden holds steps of PyTorch 1.13.1, made by
// testdata/scripts/nn_golden.py, which says what is in it.
type golden struct {
	Nets map[string]struct {
		Shape      []int
		Seed       int
		Params     []string
		Embeddings []float64
		Loss       float64
		DX         []float64
		Grads      map[string][]float64
		Runs       map[string]struct {
			Losses []float64
			Values map[string][]float64
		}
	}
}

// formula is the script's integer formula for parameters and images.
func formula(n, seed int, shift float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(float64((i*7919+i*i%613*31+seed*104729)%2003)/2003 + shift)
	}
	return out
}

// goldenNet is one of the script's two networks, under its parameter names.
func goldenNet(t *testing.T, name string, shape []int) *nn.Sequential {
	t.Helper()
	var net *nn.Sequential
	switch name {
	case "c2f2":
		net = nn.NewSequential("c2f2",
			nn.NewConv2D("conv1", 4, 5, 1, 2, true), nn.NewReLU("r1"), nn.NewMaxPool("p1", 2, 2, 0),
			nn.NewConv2D("conv2", 6, 5, 1, 2, true), nn.NewReLU("r2"), nn.NewMaxPool("p2", 2, 2, 0),
			nn.NewFlatten("f"), nn.NewLinear("fc1", 10, true), nn.NewReLU("r3"), nn.NewLinear("fc2", 5, true),
			nn.NewL2Normalize("n"))
	case "res":
		body := nn.NewSequential("body",
			nn.NewConv2D("block.conv1", 6, 3, 2, 1, false), nn.NewBatchNorm2D("block.bn1"), nn.NewReLU("r2"),
			nn.NewConv2D("block.conv2", 6, 3, 1, 1, false), nn.NewBatchNorm2D("block.bn2"))
		down := nn.NewSequential("down", nn.NewConv2D("block.down0", 6, 1, 2, 0, false), nn.NewBatchNorm2D("block.down1"))
		net = nn.NewSequential("res",
			nn.NewConv2D("conv1", 4, 3, 1, 1, false), nn.NewBatchNorm2D("bn1"), nn.NewReLU("r1"), nn.NewMaxPool("p1", 3, 2, 1),
			nn.NewResidual("block", body, down), nn.NewReLU("r3"),
			nn.NewGlobalAvgPool("gap"), nn.NewLinear("fc", 5, true), nn.NewL2Normalize("n"))
	default:
		t.Fatalf("golden file has a net %s", name)
	}
	if _, err := net.OutShape(shape[1:]); err != nil {
		t.Fatal(err)
	}
	return net
}

// start sets every parameter as the script does.
func start(t *testing.T, net *nn.Sequential, seed int, names []string) {
	t.Helper()
	k := 0
	for _, p := range net.Params() {
		if !p.Trained() {
			continue
		}
		if p.Name != names[k] {
			t.Fatalf("parameter %d is %s, the golden file has %s", k, p.Name, names[k])
		}
		copy(p.Value.Data, formula(len(p.Value.Data), 100*seed+k, -0.5))
		if len(p.Value.Shape) == 1 && p.Name[len(p.Name)-7:] == ".weight" { // batch norm
			for i := range p.Value.Data {
				p.Value.Data[i]++
			}
		}
		k++
	}
	if k != len(names) {
		t.Fatalf("%d parameters, the golden file has %d", k, len(names))
	}
}

// quadratic is the mean over triplets (3i, 3i+1, 3i+2) of |a-p|^2 - |a-n|^2 and
// its gradient.
func quadratic(z, dz *array.Array) float64 {
	loss, k := 0.0, float64(z.Rows()/3)
	for i := 0; i < z.Rows(); i += 3 {
		a, p, n := z.Row(i), z.Row(i+1), z.Row(i+2)
		da, dp, dn := dz.Row(i), dz.Row(i+1), dz.Row(i+2)
		for c := range a {
			x, y, w := float64(a[c]), float64(p[c]), float64(n[c])
			loss += ((x-y)*(x-y) - (x-w)*(x-w)) / k
			da[c], dp[c], dn[c] = float32(2*(w-y)/k), float32(2*(y-x)/k), float32(2*(x-w)/k)
		}
	}
	return loss
}

func TestWholeStepsAgainstPyTorch(t *testing.T) {
	var doc golden
	testutil.ReadJSON(t, "../nn/testdata/golden.json", &doc)
	if len(doc.Nets) != 2 {
		t.Fatalf("%d nets", len(doc.Nets))
	}
	for name, g := range doc.Nets {
		net := goldenNet(t, name, g.Shape)
		x, err := array.Of(formula(array.Size(g.Shape), g.Seed, 0), g.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			start(t, net, g.Seed, g.Params)
			z := net.Forward(x, nn.Train)
			testutil.NearAll(t, "embeddings", z.Data, g.Embeddings, 2e-6)
			dz := z.Clone()
			if loss := quadratic(z, dz); math.Abs(loss-g.Loss) > 1e-6 {
				t.Errorf("loss %v, want %v", loss, g.Loss)
			}
			testutil.NearAll(t, "dx", net.Backward(dz, nn.Weights|nn.Input).Data, g.DX, 1e-5)
			for _, p := range net.Params() {
				if p.Trained() {
					testutil.NearAll(t, "gradient of "+p.Name, p.Grad.Data, g.Grads[p.Name], 1e-5)
				}
			}
		})
		if len(g.Runs) != 3 {
			t.Fatalf("%d runs", len(g.Runs))
		}
		opts := []string{}
		for opt := range g.Runs {
			opts = append(opts, opt)
		}
		sort.Strings(opts)
		for _, opt := range opts {
			t.Run(name+"/"+opt, func(t *testing.T) {
				tenSteps(t, goldenNet(t, name, g.Shape), x, opt, g.Seed, g.Params, g.Runs[opt].Losses, g.Runs[opt].Values)
			})
		}
	}
}

func tenSteps(t *testing.T, net *nn.Sequential, x *array.Array, opt string, seed int, names []string, losses []float64, values map[string][]float64) {
	start(t, net, seed, names)
	cfg, lr := Config{Name: opt, WeightDecay: 0.01, DecayAll: true}, 0.001
	if opt == "sgd" {
		cfg.Keys, lr = SGD{0.9, true}, 0.01
	}
	params := net.Params()
	o, err := New(cfg, params)
	if err != nil {
		t.Fatal(err)
	}
	var dz *array.Array
	for step := range 10 {
		ZeroGrad(params)
		z := net.Forward(x, nn.Train)
		if dz == nil {
			dz = z.Clone()
		}
		if loss := quadratic(z, dz); math.Abs(loss-losses[step]) > 2e-5 {
			t.Errorf("step %d: loss %v, want %v", step, loss, losses[step])
		}
		if net.Backward(dz, nn.Weights) != nil {
			t.Error("input gradient nobody asked for")
		}
		o.Step(lr)
	}
	for _, p := range params {
		testutil.NearAll(t, p.Name, p.Value.Data, values[p.Name], 2e-5)
	}
}
