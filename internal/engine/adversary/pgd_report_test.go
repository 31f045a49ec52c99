package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// stepping records what Run tells it.
type stepping struct {
	along
	steps []int
	seen  []*array.Array
}

func (s *stepping) Step(t int) { s.steps = append(s.steps, t) }
func (s *stepping) Eval(z *array.Array, per []float64, grad *array.Array) error {
	s.seen = append(s.seen, z.Clone())
	return s.along.Eval(z, per, grad)
}

func TestPGDReport(t *testing.T) {
	m := newNet(9, 8, 10, 2, true, 2)
	x := images(10, 3, 0.3, 0.7)
	g := &stepping{along: along{[]float64{1, -1}}}
	p := base()
	p.Iterations, p.KeepPrevious = 4, true
	out, r := run(t, p, m, x, g, 0)
	if s := fmt.Sprint(g.steps); s != "[0 1 2 3 4]" {
		t.Error("steps", s)
	}
	if r.Forward != 5 || r.Backward != 4 || m.forward != 5 || m.back != 4 || m.weightsWereAsk || m.mode != nn.Eval {
		t.Errorf("%+v, model saw %d and %d passes", r, m.forward, m.back)
	}
	if fmt.Sprint(r.Previous.Data) != fmt.Sprint(g.seen[3].Data) || fmt.Sprint(r.Embedding.Data) != fmt.Sprint(g.seen[4].Data) {
		t.Error("embeddings of other iterates")
	}
	if z := m.Embed(out, nn.Eval); fmt.Sprint(z.Data) != fmt.Sprint(r.Embedding.Data) {
		t.Error("the embeddings are not those of the result")
	}
	var radius record.Radius
	for i := range 3 {
		linf, l2 := 0.0, 0.0
		for k, v := range out.Row(i) {
			d := math.Abs(float64(v) - float64(x.Row(i)[k]))
			linf = math.Max(linf, d)
			l2 += d * d
		}
		radius.MeanLinf += linf / 3
		radius.MaxLinf = math.Max(radius.MaxLinf, linf)
		radius.MeanL2 += math.Sqrt(l2) / 3
		radius.MaxL2 = math.Max(radius.MaxL2, math.Sqrt(l2))
	}
	for _, d := range []float64{radius.MeanLinf - r.Radius.MeanLinf, radius.MaxLinf - r.Radius.MaxLinf, radius.MeanL2 - r.Radius.MeanL2, radius.MaxL2 - r.Radius.MaxL2, radius.MaxLinf - 4*p.Step} {
		if math.Abs(d) > 1e-6 {
			t.Errorf("radius %+v, want %+v", r.Radius, radius)
		}
	}

	// Without the final pass: the same images, one pass less.
	p.KeepPrevious, p.SkipFinal, p.Mode = false, true, nn.BatchStats
	m.forward = 0
	same, r := run(t, p, m, x, along{g.v}, 0)
	if fmt.Sprint(same.Data) != fmt.Sprint(out.Data) || r.Forward != 4 || m.forward != 4 || r.Embedding != nil || m.mode != nn.BatchStats {
		t.Errorf("skip final: %+v", r)
	}
}

// stopping ends each restart after its third step.
type stopping struct {
	stepping
	t int
}

func (s *stopping) Step(t int) { s.t = t; s.stepping.Step(t) }
func (s *stopping) Stop() bool { return s.t == 2 }

func TestPGDStopsEarly(t *testing.T) {
	m := newNet(9, 8, 10, 2, true, 2)
	x := images(10, 3, 0.3, 0.7)
	v := along{[]float64{1, -1}}
	p := base()
	p.Iterations, p.KeepPrevious = 3, true
	want, r := run(t, p, m, x, v, 0)
	previous, objective := fmt.Sprint(r.Previous.Data), fmt.Sprint(r.Objective)
	p.Iterations = 9
	g := &stopping{stepping: stepping{along: v}}
	got, r := run(t, p, m, x, g, 0)
	if fmt.Sprint(got.Data) != fmt.Sprint(want.Data) || fmt.Sprint(r.Previous.Data) != previous || fmt.Sprint(r.Objective) != objective || r.Forward != 4 || r.Backward != 3 {
		t.Errorf("stopped after 3 of 9 steps: %+v", r)
	}
	p.KeepPrevious, p.SkipFinal = false, true
	if got, r = run(t, p, m, x, g, 0); fmt.Sprint(got.Data) != fmt.Sprint(want.Data) || r.Forward != 3 || r.Backward != 3 {
		t.Errorf("without the final pass: %+v", r)
	}
	g.steps = nil
	p.SkipFinal, p.Restarts, p.Keep = false, 2, Best
	if _, r = run(t, p, m, x, g, 0); r.Forward != 8 || fmt.Sprint(g.steps) != "[0 1 2 3 0 1 2 3]" {
		t.Errorf("two restarts: steps %v, %+v", g.steps, r)
	}
}

func TestZeroGradientFraction(t *testing.T) {
	m := newNet(11, 8, 4, 2, false, 1)
	for b := range m.w2 {
		clear(m.w2[b])
	}
	x := images(12, 3, 0, 1)
	for _, p := range []PGD{base(), {Norm: L2, Eps: 1, Step: 0.1, Iterations: 5, Direction: Normalized, Rule: Auto, Start: FromClean, Restarts: 1, Keep: Best}} {
		out, r := run(t, p, m, x, along{[]float64{1, 1}}, 0)
		if r.ZeroGradient != 1 || fmt.Sprint(out.Data) != fmt.Sprint(x.Data) {
			t.Errorf("zero gradients: %v, images moved by %v", r.ZeroGradient, r.Radius)
		}
	}
	live := newNet(11, 8, 4, 2, false, 1)
	if _, r := run(t, base(), live, x, along{[]float64{1, 1}}, 0); r.ZeroGradient != 0 {
		t.Errorf("zero gradients: %v", r.ZeroGradient)
	}
}
