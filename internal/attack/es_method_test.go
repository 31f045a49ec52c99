package attack

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
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
			if fmt.Sprintln(m.Kind(), m.Scores(), m.Targets(0)) != "ES "+string(v)+" [ES:D ES:R] []\n" {
				t.Error(m.Kind(), m.Scores(), m.Targets(0))
			}
			mustAim(t, m, f.batch, 0)
			for step, eps := range []float64{1e-6 - 1e-7, 1e-6, 1e-6} {
				m.(adversary.Stepper).Step(step)
				t.Run(fmt.Sprint(what, v, step), func(t *testing.T) {
					checkObjective(t, m, f.z, func(i int, z []float32) float64 {
						if v == Published {
							return -plainShift(z, f.batch.Clean.Row(i), eps)
						}
						s := 0.0
						for k, u := range plainNudges(0, f.batch.Items[i], len(z)) {
							if step > 0 {
								u = 0
							}
							d := float64(z[k]) - float64(f.batch.Clean.Row(i)[k]) - u
							s += d * d
						}
						return -math.Sqrt(s)
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

// At the clean embedding the published nudge and the pairwise distance's 1e-6 alone
// give a direction: every coordinate of it the same, at iteration 0 and after.
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

// At the clean embedding the fixed attack leaves in a direction of each query's own,
// which depends on the seed and the item alone; after the first step nothing nudges.
func TestFixedESLeavesInRandomDirections(t *testing.T) {
	const d = 70
	f := newField(t, 1, fieldOptions{n: 20, d: d, labels: 2, queries: 6, spread: 0.5})
	start := func(seed uint64, b *Batch) [][]float32 {
		m := mustMethod(t, "ES", f.g, Fixed, MethodOptions{Seed: seed})
		mustAim(t, m, b, 0)
		m.(adversary.Stepper).Step(0)
		per, grad := evalAll(t, m, b.Clean)
		var out [][]float32
		for i := range per {
			if math.Abs(per[i]+1e-7*math.Sqrt(d)) > 1e-13 {
				t.Errorf("objective %v at the start, want %v", per[i], -1e-7*math.Sqrt(d))
			}
			out = append(out, slices.Clone(grad.Row(i)))
		}
		m.(adversary.Stepper).Step(1)
		if per, grad = evalAll(t, m, b.Clean); per[0] != 0 || slices.ContainsFunc(grad.Data, func(v float32) bool { return v != 0 }) {
			t.Errorf("after the first step: objective %v, gradient %v", per, grad.Data)
		}
		return out
	}
	all := start(3, f.batch)
	for i, g := range all {
		plus := 0
		for _, v := range g {
			if math.Abs(math.Abs(float64(v))-1/math.Sqrt(d)) > 1e-6 {
				t.Fatalf("query %d: gradient %v", i, g)
			}
			if v > 0 {
				plus++
			}
		}
		if plus < d/4 || plus > 3*d/4 { // 5 standard deviations
			t.Errorf("query %d: %d of %d coordinates go up", i, plus, d)
		}
		for j := range i {
			if slices.Equal(g, all[j]) {
				t.Errorf("queries %d and %d leave in one direction", i, j)
			}
		}
	}
	one := &Batch{Items: f.batch.Items[4:5], Clean: array.New(1, d)}
	copy(one.Clean.Data, f.batch.Clean.Row(4))
	if !slices.Equal(start(3, one)[0], all[4]) || slices.Equal(start(4, one)[0], all[4]) {
		t.Error("the direction does not depend on the seed and the item alone")
	}
}
