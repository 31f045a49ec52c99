package measure

import (
	"context"
	"fmt"

	"tercet/internal/record"
)

// t2 replaces every sample of SGD's and compares each change with Lemma 2.
func t2(ctx context.Context, t *tester) error {
	const says = "samples that no step used change nothing"
	unused := 0
	for _, c := range []struct {
		name  string
		share float64
		steps record.Scale
		sizes []int
	}{
		{"c = 2/alpha as printed, T = n", printedShare, record.Scale{Factor: 1, Power: 1}, []int{50, 200}},
		{"c = 2/alpha with the smallest alpha, T = n", 1, record.Scale{Factor: 1, Power: 1}, []int{50, 200}},
		{"c = 2/alpha with the smallest alpha, T = n^2", 1, record.Scale{Factor: 1, Power: 2}, []int{50}},
	} {
		a, err := t.sgd(c.share, c.steps)
		if err != nil {
			return err
		}
		s := record.MetricSeries{Name: c.name, Quantity: "gamma", Axis: "n", Learner: a.Describe()}
		sizes, left := t.allowed(even(c.sizes...), asMany)
		s.LeftOut = left
		for _, n := range sizes {
			u, err := t.uniform(ctx, &s, float64(n.Pos), UniformOptions{Learner: a, Sizes: n, Repeats: t.repeats(2), Fresh: 1})
			if err != nil {
				return err
			}
			r := u.Lemma2
			for _, v := range r.Violations {
				check(t.doc, fmt.Sprintf("%s, n = %d: no change above Lemma 2, %s constants", c.name, n.Pos, v.Constants),
					fmt.Sprintf("%d of %d replacements above, largest ratio %.3g", v.Count, r.Replacements, v.Ratio), v.Count == 0)
			}
			if unused += r.Unused; r.Unused > 0 {
				check(t.doc, fmt.Sprintf("%s, n = %d: %s", c.name, n.Pos, says), fmt.Sprintf("%d of %d did", r.UnusedMoved, r.Unused), r.UnusedMoved == 0)
			} else {
				t.doc.Notes = append(t.doc.Notes, fmt.Sprintf("%s, n = %d: each replaced sample was used by some step", c.name, n.Pos))
			}
			p := &s.Points[len(s.Points)-1]
			p.With = []record.Number{{Name: "most uses of a sample", Value: float64(r.MostUses)}, {Name: "largest over typical sample", Value: u.Gamma.Value / u.Typical.Value}}
		}
		t.add(s)
	}
	if unused == 0 {
		leaveOpen(t.doc, says, "there was none")
	}
	return nil
}

// t5 measures SGD's rates.
func t5(ctx context.Context, t *tester) error {
	for _, part := range []func(context.Context, *tester) error{gapOfSGD, stabilityOverSteps, stabilityOverBalance} {
		if err := part(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func gapOfSGD(ctx context.Context, t *tester) error {
	a, err := t.sgd(1, record.Scale{Factor: 1, Power: 1})
	if err != nil {
		return err
	}
	s := record.MetricSeries{Name: "SGD, T = n", Quantity: "gap", Axis: "n", Learner: a.Describe(), Expected: &[2]float64{-0.65, -0.35}}
	sizes, left := t.allowed(even(20, 40, 80, 160, 320, 640), t.held)
	s.LeftOut = left
	for _, n := range sizes {
		if _, err := t.gap(ctx, &s, float64(n.Pos), GapOptions{Learner: a, Sizes: n, Repeats: t.repeats(300)}); err != nil {
			return err
		}
	}
	t.add(s)
	return nil
}

// stabilityOverSteps has T from 4n to n^2 and beyond: at fewer steps what counts is how
// often the luckiest sample is used, which grows slower than T/n. The step is the printed
// one: large steps move w to where the loss no longer is a straight line.
func stabilityOverSteps(ctx context.Context, t *tester) error {
	const n = 50
	s := record.MetricSeries{Name: "SGD, n = 50", Quantity: "gamma", Axis: "T", Expected: &[2]float64{0.35, 0.65}}
	sizes, left := t.allowed(even(n), some(10))
	s.LeftOut = left
	for _, steps := range []int{200, 400, 800, 1600, 3200} {
		if len(sizes) == 0 {
			break
		}
		a, err := t.sgd(printedShare, record.Scale{Factor: float64(steps)})
		if err != nil {
			return err
		}
		s.Learner = a.Describe()
		s.Learner.Steps = nil
		if _, err := t.uniform(ctx, &s, float64(steps), UniformOptions{Learner: a, Sizes: record.Sizes{Pos: n, Neg: n}, Repeats: t.repeats(10), Replaced: 10, Fresh: 1}); err != nil {
			return err
		}
	}
	t.add(s)
	return nil
}

// stabilityOverBalance has a fixed T, so that a sample is used 2T/n+ or T/n- times in the
// mean: 4 times or more.
func stabilityOverBalance(ctx context.Context, t *tester) error {
	a, err := t.sgd(printedShare, record.Scale{Factor: 1600})
	if err != nil {
		return err
	}
	s := record.MetricSeries{Name: "SGD, T = 1600, sides of different sizes", Quantity: "gamma", Axis: "max{2/n+, 1/n-}", Learner: a.Describe(), Expected: &[2]float64{0.7, 1.3}}
	sizes, left := t.allowed([]record.Sizes{{Pos: 400, Neg: 200}, {Pos: 200, Neg: 400}, {Pos: 200, Neg: 50}, {Pos: 100, Neg: 400}, {Pos: 400, Neg: 25}, {Pos: 50, Neg: 100}, {Pos: 25, Neg: 400}}, some(10))
	s.LeftOut = left
	for _, n := range sizes {
		x := max(2/float64(n.Pos), 1/float64(n.Neg))
		if _, err := t.uniform(ctx, &s, x, UniformOptions{Learner: a, Sizes: n, Repeats: t.repeats(10), Replaced: 10, Fresh: 1}); err != nil {
			return err
		}
	}
	t.add(s)
	return nil
}
