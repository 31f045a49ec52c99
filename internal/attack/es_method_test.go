package attack

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/adversary"
)

// plainShift is |z - q0 + eps| in float64.
func plainShift(z, q0 []float32, eps float64) float64 {
	s := 0.0
	for k := range z {
		d := float64(z[k]) - float64(q0[k]) + eps
		s += d * d
	}
	return math.Sqrt(s)
}

func TestESObjectiveAndScores(t *testing.T) {
	for what, f := range fields(t) {
		for _, v := range variants() {
			m := mustMethod(t, "ES", f.g, v, MethodOptions{})
			if fmt.Sprintln(m.Kind(), m.Scores(), m.Targets(0)) != "ES [ES:D ES:R] []\n" {
				t.Error(m.Kind(), m.Scores(), m.Targets(0))
			}
			mustAim(t, m, f.batch, 0)
			for step, eps := range []float64{1e-6 - 1e-7, 1e-6, 1e-6} {
				m.(adversary.Stepper).Step(step)
				t.Run(fmt.Sprint(what, v, step), func(t *testing.T) {
					checkObjective(t, m, f.z, func(i int, z []float32) float64 {
						return -plainShift(z, f.batch.Clean.Row(i), eps)
					})
				})
			}
			previous := f.z.Clone()
			for i := range previous.Data {
				previous.Data[i] += 0.01
			}
			for i, got := range scoresOf(m, f.z, previous)[0] {
				want := plainShift(f.z.Row(i), f.batch.Clean.Row(i), 0)
				if v == Published {
					want = plainShift(previous.Row(i), f.batch.Clean.Row(i), 1e-6)
				}
				if math.Abs(got-want) > 1e-12 {
					t.Errorf("%s %s: query %d moved by %v, want %v", what, v, i, got, want)
				}
			}
		}
	}
}

// At the clean embedding the nudge alone gives a direction: every coordinate of
// it the same, at iteration 0 and after.
func TestESLeavesTheCleanEmbedding(t *testing.T) {
	f := newField(t, 1, fieldOptions{n: 20, d: 4, labels: 2, queries: 3, spread: 0.5})
	m := mustMethod(t, "ES", f.g, Published, MethodOptions{})
	mustAim(t, m, f.batch, 0)
	for step, eps := range []float64{9e-7, 1e-6} {
		m.(adversary.Stepper).Step(step)
		per, grad := evalAll(t, m, f.batch.Clean)
		for i := range per {
			if math.Abs(per[i]+2*eps) > 1e-15 {
				t.Errorf("step %d: objective %v, want %v", step, per[i], -2*eps)
			}
			for _, g := range grad.Row(i) {
				if g != -0.5 {
					t.Errorf("step %d: gradient %v", step, grad.Row(i))
				}
			}
		}
	}
}
