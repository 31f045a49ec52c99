package measure

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/record"
)

// SweepOptions says what is measured over sizes.
type SweepOptions struct {
	Source   Source
	Learner  Learner
	Sizes    []record.Sizes // n+ and n-
	Repeats  int
	Replaced int // see UniformOptions
	Fresh    int
	Triples  int // see OnAverageOptions; 0: on-average stability is left out
	Triplets int // see UniformOptions
	Held     record.Sizes
	Delta    float64 // of Theorem 1 and 2, beside gaps
	Seed     uint64
	// Done, where set, is called after each size with what was measured.
	Done func(what string, n record.Sizes, e record.Estimate)
	// Keep, where set, keeps each size's result.
	Keep Keeper
}

func (o SweepOptions) done(what string, n record.Sizes, e record.Estimate) {
	if o.Done != nil {
		o.Done(what, n, e)
	}
}

// check refuses sizes that make no sample, and samples that with so many more points are
// more than there are, before anything is measured.
func (o SweepOptions) check(more func(record.Sizes) record.Sizes) error {
	if len(o.Sizes) == 0 {
		return fmt.Errorf("%w: no sizes to measure at", ErrInput)
	}
	have := size(o.Source)
	for i, n := range o.Sizes {
		if err := checkSizes(n, "a sample"); err != nil {
			return err
		}
		if slices.Contains(o.Sizes[:i], n) {
			return fmt.Errorf("%w: size %d + %d is given twice", ErrInput, n.Pos, n.Neg)
		}
		m := more(n)
		if have == nil || n.Pos+m.Pos <= have.Pos && n.Neg+m.Neg <= have.Neg {
			continue
		}
		hint := "there are too few for any"
		if most := largest(*have, more); most > 0 {
			hint = fmt.Sprintf("take smaller sizes, up to n = %d", most)
		}
		return fmt.Errorf("%w: a sample of %d + %d and %d + %d more points (positives + negatives) for evaluation and replacements are more than the %d + %d available; %s", ErrInput, n.Pos, n.Neg, m.Pos, m.Neg, have.Pos, have.Neg, hint)
	}
	return nil
}

// size is how many points a source draws from; nil where they do not run out.
func size(s Source) *record.Sizes {
	if p, ok := s.(interface{ Size() record.Sizes }); ok {
		n := p.Size()
		return &n
	}
	return nil
}

// largest is the largest n = n+ = n- for which there are enough points; 0 for none.
func largest(have record.Sizes, more func(record.Sizes) record.Sizes) int {
	for n := Least(have); n >= 2; n-- {
		if m := more(record.Sizes{Pos: n, Neg: n}); n+m.Pos <= have.Pos && n+m.Neg <= have.Neg {
			return n
		}
	}
	return 0
}

// fresh are the points that Stability draws besides a sample's.
func (o SweepOptions) fresh(n record.Sizes) record.Sizes {
	u := UniformOptions{Sizes: n, Replaced: o.Replaced, Fresh: o.Fresh}.fresh()
	m := NotionsOptions{Sizes: n, Replaced: o.Replaced, Points: record.Sizes{Pos: 2, Neg: 1}}.fresh()
	return record.Sizes{Pos: max(u.Pos, 2*o.Triples, m.Pos), Neg: max(u.Neg, o.Triples, m.Neg)}
}

// notionPoints are as many points for triplets as a small pool leaves.
func (o SweepOptions) notionPoints(n record.Sizes) record.Sizes {
	have := size(o.Source)
	if have == nil {
		return record.Sizes{}
	}
	left := func(have, n, least int) int { return max(least, min(notionPoints, n, have-n-o.Replaced)) }
	return record.Sizes{Pos: left(have.Pos, n.Pos, 2), Neg: left(have.Neg, n.Neg, 1)}
}

// Stability measures uniform stability, and on-average stability where Triples are given,
// over sizes, with the bounds and rates.
func Stability(ctx context.Context, o SweepOptions) ([]record.MetricSeries, error) {
	if err := o.check(o.fresh); err != nil {
		return nil, err
	}
	uniform := record.MetricSeries{Name: "uniform stability", Quantity: "gamma", Axis: "n", Learner: o.Learner.Describe()}
	average := record.MetricSeries{Name: "on-average stability", Quantity: "on-average", Axis: "n", Learner: o.Learner.Describe()}
	notions := notionSeries(o.Learner)
	for _, n := range o.Sizes {
		uo := UniformOptions{
			Source: o.Source, Learner: o.Learner, Sizes: n, Repeats: o.Repeats,
			Replaced: o.Replaced, Fresh: o.Fresh, Triplets: o.Triplets, Seed: o.Seed,
		}
		u, err := recall(o.Keep, uo.key(), func() (*record.UniformResult, error) { return Uniform(ctx, uo) })
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("gamma", n, u.Gamma)
		uniform.Points = append(uniform.Points, uniformPoint(float64(Least(n)), o.Learner, u))
		no := NotionsOptions{Source: o.Source, Learner: o.Learner, Sizes: n, Repeats: o.Repeats, Replaced: o.Replaced, Triplets: o.Triplets, Points: o.notionPoints(n), Seed: o.Seed}
		m, err := recall(o.Keep, no.key(), func() (*record.NotionsResult, error) { return Notions(ctx, no) })
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("hypothesis stability", n, m.Hypothesis)
		addNotions(notions, o.Learner, m)
		if o.Triples < 1 {
			continue
		}
		ao := OnAverageOptions{Source: o.Source, Learner: o.Learner, Sizes: n, Repeats: o.Repeats, Triples: o.Triples, Seed: o.Seed}
		a, err := recall(o.Keep, ao.key(), func() (*record.OnAverageResult, error) { return OnAverage(ctx, ao) })
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("on-average", n, a.Value)
		average.Points = append(average.Points, at(record.MetricPoint{X: float64(Least(n)), Measured: a.Value, Repeats: a.Values, OnAverage: a}, o.Learner, n))
	}
	fitRate(&uniform, o.Seed)
	out := []record.MetricSeries{uniform}
	for _, s := range notions {
		fitRate(&s, o.Seed)
		out = append(out, s)
	}
	if average.Points != nil {
		fitRate(&average, o.Seed)
		out = append(out, average)
	}
	return out, nil
}

// Gaps measures the generalization gap over sizes: its mean with the control variate, and
// its absolute value in each repeat beside the bound that holds with probability 1 -
// Delta, Theorem 1 with the learner's proven stability.
func Gaps(ctx context.Context, o SweepOptions) ([]record.MetricSeries, error) {
	if err := o.check(func(record.Sizes) record.Sizes { return o.Held }); err != nil {
		return nil, err
	}
	expected := record.MetricSeries{Name: "expected gap", Quantity: "gap", Axis: "n", Learner: o.Learner.Describe()}
	absolute := record.MetricSeries{Name: "absolute gap", Quantity: "|gap|", Axis: "n", Learner: o.Learner.Describe()}
	errors := record.MetricSeries{Name: zeroOneName(o.Learner), Quantity: zeroOneGap, Axis: "n", Learner: o.Learner.Describe()}
	for _, n := range o.Sizes {
		ro := GapOptions{Source: o.Source, Learner: o.Learner, Sizes: n, Held: o.Held, Repeats: o.Repeats, Seed: o.Seed, Errors: true}
		g, err := recall(o.Keep, ro.key(), func() (*record.GapResult, error) { return Gap(ctx, ro) })
		if err != nil {
			return nil, fmt.Errorf("n+ = %d, n- = %d: %w", n.Pos, n.Neg, err)
		}
		o.done("gap", n, g.Gap)
		x := float64(Least(n))
		p := gapPoint(x, o.Learner, g)
		if p.Bounds, err = expectedBounds(o.Learner, o.Source.Radius(), g); err != nil {
			return nil, err
		}
		expected.Points = append(expected.Points, p)
		q := at(record.MetricPoint{X: x, Measured: g.Absolute, Repeats: g.Absolutes}, o.Learner, n)
		if q.Bounds, err = likelyBounds(o.Learner, o.Source.Radius(), g, o.Delta); err != nil {
			return nil, err
		}
		absolute.Points = append(absolute.Points, q)
		errors.Points = append(errors.Points, zeroOnePoint(x, o.Learner, g))
	}
	fitRate(&expected, o.Seed)
	fitRate(&absolute, o.Seed)
	fitRate(&errors, o.Seed)
	return []record.MetricSeries{expected, absolute, errors}, nil
}

// zeroOneGap is the quantity of the gap of the paper's 0-1 loss.
const zeroOneGap = "0-1 gap"

func zeroOneName(l Learner) string {
	return fmt.Sprintf("0-1 loss, zeta = %g", l.Criterion().Zeta)
}
