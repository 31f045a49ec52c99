package optim

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// params returns a weight (decays), a bias (does not) and a buffer.
func params(seed uint64) []*nn.Param {
	r := rng.New(seed, "params")
	draw := func(n int) *array.Array {
		a := array.New(n)
		for i := range a.Data {
			a.Data[i] = float32(r.NormFloat64())
		}
		return a
	}
	const n = 2*chunk + 5
	return []*nn.Param{
		{Name: "w", Value: draw(n), Grad: draw(n), Decay: true},
		{Name: "b", Value: draw(7), Grad: draw(7)},
		{Name: "running", Value: draw(3)},
	}
}

// newGrad is the gradient of step t, the same for all runs.
func newGrad(ps []*nn.Param, t int) {
	r := rng.New(9, "grad", uint64(t))
	for _, p := range ps {
		if p.Grad != nil {
			for i := range p.Grad.Data {
				p.Grad.Data[i] = float32(r.NormFloat64())
			}
		}
	}
}

// reference is each rule for one number, in float64, as the papers write it.
type reference struct{ buf, m, v float64 }

func (s *reference) step(c Config, p, g, lr float64, t int, decay bool) float64 {
	wd := 0.0
	if decay || c.DecayAll {
		wd = c.WeightDecay
	}
	if c.Decay == "decoupled" || c.Name == "adamw" {
		p -= lr * wd * p
	} else {
		g += wd * p
	}
	if k, ok := c.Keys.(SGD); ok {
		if k.Momentum == 0 {
			return p - lr*g
		}
		s.buf = k.Momentum*s.buf + g
		if k.Nesterov {
			return p - lr*(g+k.Momentum*s.buf)
		}
		return p - lr*s.buf
	}
	b1, b2, eps := 0.9, 0.999, 1e-8
	if k, ok := c.Keys.(Adam); ok {
		b1, b2, eps = k.Betas[0], k.Betas[1], k.Eps
	}
	s.m = b1*s.m + (1-b1)*g
	s.v = b2*s.v + (1-b2)*g*g
	mhat := s.m / (1 - math.Pow(b1, float64(t)))
	vhat := s.v / (1 - math.Pow(b2, float64(t)))
	return p - lr*mhat/(math.Sqrt(vhat)+eps)
}

var configs = []Config{
	{Name: "sgd", Keys: SGD{}},
	{Name: "sgd", Keys: SGD{}, WeightDecay: 0.1},
	{Name: "sgd", Keys: SGD{Momentum: 0.9}, WeightDecay: 0.1},
	{Name: "sgd", Keys: SGD{0.9, true}, WeightDecay: 0.1, DecayAll: true},
	{Name: "sgd", Keys: SGD{Momentum: 0.9}, WeightDecay: 0.1, Decay: "decoupled"},
	{Name: "adam"},
	{Name: "adam", WeightDecay: 0.1, DecayAll: true},
	{Name: "adam", WeightDecay: 0.1, Decay: "decoupled"},
	{Name: "adam", Keys: Adam{[2]float64{0.5, 0.9}, 1e-3}},
	{Name: "adam", Keys: Adam{[2]float64{0, 0.9}, 1e-3}},
	{Name: "adam", Keys: Adam{[2]float64{0, 0}, 1e-3}},
	{Name: "adamw", WeightDecay: 0.1},
}

func TestStepsAgainstFloat64Loops(t *testing.T) {
	for _, c := range configs {
		ps := params(1)
		o, err := New(c, ps)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		var states [][]reference
		for _, p := range ps {
			w := make([]float64, len(p.Value.Data))
			for i, v := range p.Value.Data {
				w[i] = float64(v)
			}
			want = append(want, w)
			states = append(states, make([]reference, len(w)))
		}
		buffer := ps[2].Value.Clone()
		worst := 0.0
		for step := 1; step <= 12; step++ {
			newGrad(ps, step)
			lr := 0.01 / float64(step)
			o.Step(lr)
			for k, p := range ps[:2] {
				for i := range want[k] {
					want[k][i] = states[k][i].step(c, want[k][i], float64(p.Grad.Data[i]), lr, step, p.Decay)
					worst = max(worst, math.Abs(want[k][i]-float64(p.Value.Data[i])))
				}
			}
		}
		if !(worst < 4e-6) {
			t.Errorf("%+v: differs by %g", c, worst)
		}
		if o.Steps() != 12 {
			t.Errorf("%d steps counted", o.Steps())
		}
		for i, v := range buffer.Data {
			if ps[2].Value.Data[i] != v {
				t.Errorf("%s changed a buffer", c.Name)
			}
		}
	}
}

func equal(t *testing.T, what string, a, b []*nn.Param) {
	t.Helper()
	for k := range a {
		for i, v := range a[k].Value.Data {
			if math.Float32bits(v) != math.Float32bits(b[k].Value.Data[i]) {
				t.Fatalf("%s: %s[%d] is %v and %v", what, a[k].Name, i, v, b[k].Value.Data[i])
			}
		}
	}
}

func TestResumeAndThreadsAreBitIdentical(t *testing.T) {
	defer par.SetThreads(0)
	for _, c := range configs {
		par.SetThreads(1)
		a, b := params(2), params(2)
		oa, _ := New(c, a)
		for step := range 6 {
			newGrad(a, step)
			ClipByNorm(a, 1)
			oa.Step(0.01)
		}
		par.SetThreads(2)
		ob, _ := New(c, b)
		for step := range 3 {
			newGrad(b, step)
			ClipByNorm(b, 1)
			ob.Step(0.01)
		}
		var saved []NamedState
		for _, s := range ob.State() {
			saved = append(saved, NamedState{s.Name, s.Shape, append([]float32(nil), s.Data...)})
		}
		again, _ := New(c, b)
		if err := again.Restore(ob.Steps(), saved); err != nil {
			t.Fatal(err)
		}
		for step := 3; step < 6; step++ {
			newGrad(b, step)
			ClipByNorm(b, 1)
			again.Step(0.01)
		}
		equal(t, c.Name, a, b)
	}
}

func TestRestoreRefuses(t *testing.T) {
	o, _ := New(Config{Name: "adam"}, params(1))
	good := func() []NamedState {
		var s []NamedState
		for _, a := range o.State() {
			s = append(s, NamedState{a.Name, a.Shape, append([]float32(nil), a.Data...)})
		}
		return s
	}
	for want, bad := range map[string]func() (int64, []NamedState){
		"has no exp_avg/w":    func() (int64, []NamedState) { return 1, good()[1:] },
		"counts -1 steps":     func() (int64, []NamedState) { return -1, good() },
		"twice":               func() (int64, []NamedState) { s := good(); return 1, append(s, s[0]) },
		"5 arrays":            func() (int64, []NamedState) { return 1, append(good(), NamedState{Name: "x"}) },
		"exp_avg_sq/b holds1": func() (int64, []NamedState) { s := good(); s[3].Data = s[3].Data[:1]; s[0].Data[0] = 5; return 1, s },
	} {
		steps, s := bad()
		err := o.Restore(steps, s)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "holds 1", "holds1"), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if o.Steps() != 0 || o.State()[0].Data[0] != 0 {
			t.Fatalf("%s: a refused state was taken over", want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, c := range map[string]Config{
		`unknown optimizer "lion"; valid: adam, adamw, sgd`: {Name: "lion"},
		"momentum must be >=0 and <1, is 1":                 {Name: "sgd", Keys: SGD{Momentum: 1}},
		"nesterov needs":                                    {Name: "sgd", Keys: SGD{Nesterov: true}},
		"betas must be >=0 and <1, is NaN":                  {Name: "adam", Keys: Adam{[2]float64{0, math.NaN()}, 1}},
		"eps must be >0, is 0":                              {Name: "adam", Keys: Adam{[2]float64{0.5, 0.9}, 0}},
		"weight decay -1":                                   {Name: "adam", WeightDecay: -1},
		"unknown weight decay":                              {Name: "adam", Decay: "l1"},
		"adamw is Adam with decoupled decay":                {Name: "adamw", Decay: "l2"},
	} {
		if _, err := New(c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestClipByNorm(t *testing.T) {
	ps := params(3)
	var sum float64
	for _, p := range ps[:2] {
		for _, g := range p.Grad.Data {
			sum += float64(g) * float64(g)
		}
	}
	want := math.Sqrt(sum)
	first := ps[0].Grad.Data[0]
	for _, noop := range []float64{0, -1, want * 2, math.Inf(1)} {
		if got := ClipByNorm(ps, noop); math.Abs(got-want) > 1e-9*want || ps[0].Grad.Data[0] != first {
			t.Fatalf("max %v: norm %v, want %v; first gradient %v, was %v", noop, got, want, ps[0].Grad.Data[0], first)
		}
	}
	ClipByNorm(ps, 0.5)
	if got := ClipByNorm(ps, 0); math.Abs(got-0.5) > 1e-5 {
		t.Fatalf("clipped to %v", got)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		ps[1].Grad.Data[0] = float32(bad)
		before := ps[0].Grad.Data[0]
		if got := ClipByNorm(ps, 1e-3); !(got != got) && !math.IsInf(got, 0) || ps[0].Grad.Data[0] != before {
			t.Fatalf("%v: norm %v, gradients scaled", bad, got)
		}
	}
	if got := ClipByNorm(nil, 1); got != 0 {
		t.Fatalf("norm of nothing is %v", got)
	}
	ZeroGrad(ps)
	if got := ClipByNorm(ps, 0); got != 0 {
		t.Fatalf("norm %v after ZeroGrad", got)
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		step int
		want float64
	}{
		{Schedule{Keys: Constant{}, Base: 2}, 1000, 2},
		{Schedule{Keys: Constant{}, Base: 2, Warmup: 4}, 0, 0.5},
		{Schedule{Keys: Constant{}, Base: 2, Warmup: 4}, 3, 2},
		{Schedule{Keys: Constant{}, Base: 2, Warmup: 4}, 4, 2},
		{Schedule{Keys: Drops{component.Span{N: 10, Unit: "steps"}, 0.1}, Base: 2}, 9, 2},
		{Schedule{Keys: Drops{component.Span{N: 10, Unit: "steps"}, 0.1}, Base: 2}, 10, 0.2},
		{Schedule{Keys: Drops{component.Span{N: 10, Unit: "steps"}, 0.5}, Base: 2}, 35, 0.25},
		{Schedule{Keys: Drops{component.Span{N: 2.5, Unit: "epochs"}, 0.5}, Base: 2, PerEpoch: 3}, 15, 1}, // every 8 steps
		{Schedule{Keys: Drops{component.Span{N: 2.5, Unit: "epochs"}, 0.5}, Base: 2, PerEpoch: 3}, 16, 0.5},
		{Schedule{Keys: Drops{component.Span{N: 5, Unit: "steps"}, 0.5}, Base: 2, Warmup: 10}, 9, 2},
		{Schedule{Keys: Cosine{}, Base: 2, Total: 10}, 0, 2},
		{Schedule{Keys: Cosine{}, Base: 2, Total: 10}, 5, 1},
		{Schedule{Keys: Cosine{1}, Base: 2, Total: 12}, 4, 1.75},
		{Schedule{Keys: Cosine{1}, Base: 2, Total: 12, Warmup: 6}, 8, 1.75},
		{Schedule{Keys: Cosine{1}, Base: 2, Total: 12}, 12, 1},
		{Schedule{Keys: Cosine{1}, Base: 2, Total: 12}, 99, 1},
	} {
		if err := c.s.Check(); err != nil {
			t.Errorf("%+v: %v", c.s, err)
		}
		if got := c.s.LR(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v at %d: %v, want %v", c.s, c.step, got, c.want)
		}
	}
	for want, s := range map[string]Schedule{
		"learning rate -1":  {Keys: Constant{}, Base: -1},
		"learning rate NaN": {Keys: Constant{}, Base: math.NaN()},
		"warm-up of -1":     {Keys: Constant{}, Warmup: -1},
		"gamma must be >0":  {Keys: Drops{component.Span{N: 1, Unit: "steps"}, -1}},
		"every must be >0":  {Keys: Drops{component.Span{Unit: "steps"}, 1}},
		"warmup must be shorter than the run, which has 10 steps, is 10": {Keys: Cosine{}, Total: 10, Warmup: 10},
		"min_lr is larger than optimizer.lr (2)":                         {Keys: Cosine{3}, Total: 10, Base: 2},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// The benchmark's allocs/op is the claim; this keeps it from regressing.
func TestStepAllocatesNothing(t *testing.T) {
	defer par.SetThreads(0)
	par.SetThreads(1)
	for _, c := range configs {
		ps := params(4)
		o, _ := New(c, ps)
		if n := testing.AllocsPerRun(20, func() { ClipByNorm(ps, 1); o.Step(0.01); ZeroGrad(ps) }); n != 0 {
			t.Errorf("%+v: %v allocations", c, n)
		}
	}
}
