package optim

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

// adamByHand is Adam with an L2 decay in float64, as Kingma and Ba write it.
type adamByHand struct {
	t    int
	m, v []float64
}

func (a *adamByHand) step(x, g []float64, lr, decay float64) {
	a.t++
	for i := range x {
		d := g[i] + decay*x[i]
		a.m[i] = 0.9*a.m[i] + 0.1*d
		a.v[i] = 0.999*a.v[i] + 0.001*d*d
		x[i] -= lr * (a.m[i] / (1 - math.Pow(0.9, float64(a.t)))) / (math.Sqrt(a.v[i]/(1-math.Pow(0.999, float64(a.t)))) + 1e-8)
	}
}

// Each group is an optimizer of its own: rate, decay, and the step that it begins with,
// whose bias corrections are those of a first step, as in PyTorch where a parameter's
// gradient is None until then.
func TestGroups(t *testing.T) {
	t.Parallel()
	const late, steps, lr = 3, 8, 0.01
	none := 0.0
	make2 := func() (trunk, head []*nn.Param, o Optimizer) {
		one := func(name string, v ...float32) *nn.Param {
			return &nn.Param{Name: name, Value: &array.Array{Shape: []int{len(v)}, Data: v}, Grad: array.New(len(v)), Decay: true}
		}
		trunk, head = []*nn.Param{one("conv.weight", 1, -2, 0.5)}, []*nn.Param{one("fc.weight", 0.3, -0.7)}
		o, err := NewGroups(Config{Name: "adam", WeightDecay: 0.1}, []Group{{Params: trunk, Rate: 1, From: late}, {Params: head, Rate: 10, WeightDecay: &none}})
		if err != nil {
			t.Fatal(err)
		}
		return trunk, head, o
	}
	grad := func(p *nn.Param, step int) {
		for i := range p.Grad.Data {
			p.Grad.Data[i] = float32(math.Sin(float64(7*step+3*i) + float64(len(p.Grad.Data))))
		}
	}
	trunk, head, o := make2()
	var hands []*adamByHand
	var xs [][]float64
	for _, p := range []*nn.Param{trunk[0], head[0]} {
		n := len(p.Value.Data)
		hands = append(hands, &adamByHand{m: make([]float64, n), v: make([]float64, n)})
		x := make([]float64, n)
		for i, v := range p.Value.Data {
			x[i] = float64(v)
		}
		xs = append(xs, x)
	}
	againTrunk, againHead, again := make2()
	for step := range steps {
		if step == 5 { // a resumed run
			var saved []NamedState
			for _, s := range o.State() {
				saved = append(saved, NamedState{s.Name, s.Shape, slices.Clone(s.Data)})
			}
			if err := again.Restore(o.Steps(), saved); err != nil {
				t.Fatal(err)
			}
			copy(againTrunk[0].Value.Data, trunk[0].Value.Data)
			copy(againHead[0].Value.Data, head[0].Value.Data)
		}
		for i, p := range []*nn.Param{trunk[0], head[0]} {
			grad(p, step)
			if i == 0 && step < late {
				continue
			}
			g := make([]float64, len(p.Grad.Data))
			for k, v := range p.Grad.Data {
				g[k] = float64(v)
			}
			hands[i].step(xs[i], g, []float64{lr, 10 * lr}[i], []float64{0.1, 0}[i])
		}
		o.Step(lr)
		if step >= 5 {
			grad(againTrunk[0], step)
			grad(againHead[0], step)
			again.Step(lr)
		}
		for i, p := range []*nn.Param{trunk[0], head[0]} {
			for k, v := range p.Value.Data {
				if math.Abs(float64(v)-xs[i][k]) > 1e-5 {
					t.Fatalf("step %d: %s[%d] is %v, want %v", step, p.Name, k, v, xs[i][k])
				}
			}
		}
	}
	if !slices.Equal(againTrunk[0].Value.Data, trunk[0].Value.Data) || !slices.Equal(againHead[0].Value.Data, head[0].Value.Data) || again.Steps() != steps {
		t.Error("a restored optimizer gives other bits")
	}
	if err := again.Restore(3, o.State()[:1]); err == nil || again.Steps() != steps {
		t.Errorf("half a state: error %v, %d steps", err, again.Steps())
	}
}

func TestClipByValue(t *testing.T) {
	t.Parallel()
	p := &nn.Param{Name: "w", Value: array.New(5), Grad: &array.Array{Shape: []int{5}, Data: []float32{-3, -0.5, 0, 2, float32(math.NaN())}}}
	buffer := &nn.Param{Name: "running_mean", Value: array.New(2)}
	ClipByValue([]*nn.Param{p, buffer}, 0)
	if p.Grad.Data[0] != -3 {
		t.Error("0 is off")
	}
	ClipByValue([]*nn.Param{p, buffer}, 0.75)
	if got := p.Grad.Data; !slices.Equal(got[:4], []float32{-0.75, -0.5, 0, 0.75}) || got[4] == got[4] {
		t.Errorf("%v", got)
	}
}
