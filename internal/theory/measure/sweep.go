package measure

import (
	"context"
	"fmt"
)

// SweepOptions says what is measured over sizes.
type SweepOptions struct {
	Source   Source
	Learner  Learner
	Sizes    []Sizes // n+ and n-
	Repeats  int
	Replaced int // see UniformOptions
	Fresh    int
	Triples  int // see OnAverageOptions; 0: on-average stability is left out
	Triplets int // see UniformOptions
	Held     Sizes
	Delta    float64 // of Theorem 1 and 2, beside gaps
	Seed     uint64
	// Done, where set, is called after each size with what was measured.
	Done func(what string, n Sizes, e Estimate)
}

func (o SweepOptions) done(what string, n Sizes, e Estimate) {
	if o.Done != nil {
		o.Done(what, n, e)
	}
}

func (o SweepOptions) check() error {
	if len(o.Sizes) == 0 {
		return fmt.Errorf("%w: no sizes to measure at", ErrInput)
	}
	for _, n := range o.Sizes {
		if err := n.check("a sample"); err != nil {
			return err
		}
	}
	return nil
}

// Stability measures uniform stability, and on-average stability where Triples are given,
// over sizes, with the bounds and rates.
func Stability(ctx context.Context, o SweepOptions) ([]Series, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	uniform := Series{Name: "uniform stability", Quantity: "gamma", Axis: "n", Learner: o.Learner.Describe()}
	average := Series{Name: "on-average stability", Quantity: "on-average", Axis: "n", Learner: o.Learner.Describe()}
	for _, n := range o.Sizes {
		u, err := Uniform(ctx, UniformOptions{
			Source: o.Source, Learner: o.Learner, Sizes: n, Repeats: o.Repeats,
			Replaced: o.Replaced, Fresh: o.Fresh, Triplets: o.Triplets, Seed: o.Seed,
		})
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("gamma", n, u.Gamma)
		uniform.Points = append(uniform.Points, uniformPoint(float64(n.Least()), o.Learner, u))
		if o.Triples < 1 {
			continue
		}
		a, err := OnAverage(ctx, OnAverageOptions{Source: o.Source, Learner: o.Learner, Sizes: n, Repeats: o.Repeats, Triples: o.Triples, Seed: o.Seed})
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("on-average", n, a.Value)
		average.Points = append(average.Points, Point{X: float64(n.Least()), Measured: a.Value, Repeats: a.Values, OnAverage: a}.at(o.Learner, n))
	}
	uniform.fit(o.Seed)
	out := []Series{uniform}
	if average.Points != nil {
		average.fit(o.Seed)
		out = append(out, average)
	}
	return out, nil
}

// Gaps measures the generalisation gap over sizes: its mean with the control variate, and
// its absolute value in each repeat beside the bound that holds with probability 1 -
// Delta, Theorem 1 with the learner's proven stability.
func Gaps(ctx context.Context, o SweepOptions) ([]Series, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	expected := Series{Name: "expected gap", Quantity: "gap", Axis: "n", Learner: o.Learner.Describe()}
	absolute := Series{Name: "absolute gap", Quantity: "|gap|", Axis: "n", Learner: o.Learner.Describe()}
	for _, n := range o.Sizes {
		g, err := Gap(ctx, GapOptions{Source: o.Source, Learner: o.Learner, Sizes: n, Held: o.Held, Repeats: o.Repeats, Seed: o.Seed, Errors: true})
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("gap", n, g.Gap)
		x := float64(n.Least())
		p := gapPoint(x, o.Learner, g)
		if p.Bounds, err = expectedBounds(o.Learner, o.Source.Radius(), g); err != nil {
			return nil, err
		}
		expected.Points = append(expected.Points, p)
		q := Point{X: x, Measured: g.Absolute, Repeats: g.Absolutes}.at(o.Learner, n)
		if q.Bounds, err = likelyBounds(o.Learner, o.Source.Radius(), g, o.Delta); err != nil {
			return nil, err
		}
		absolute.Points = append(absolute.Points, q)
	}
	expected.fit(o.Seed)
	absolute.fit(o.Seed)
	return []Series{expected, absolute}, nil
}
