package cluster

import (
	"context"
	"fmt"
)

// Start is the result of one start of KMeans, from which KMeans continues.
type Start struct {
	Inertia    float64   // in the unit that the computation has chosen
	Center     []float64 // (k, d), in that unit
	Labels     []int32   // (n)
	Iterations int
	Converged  bool
}

// Starts runs the starts of KMeans with the given numbers (from 0, ascending). Starts are
// independent, so several machines can share them. done is called after each start; it
// must not keep its slices. There are no starts with MiniBatch. Errors are those of
// KMeans, and of done.
func Starts(ctx context.Context, x []float32, n, d int, o KMeansOptions, numbers []int, done func(number int, s Start) error) error {
	p, err := o.shared(x, n, d)
	if err != nil {
		return err
	}
	return o.restarts(ctx, p, numbers, func(number int, l *lloyd) error {
		return done(number, Start{Inertia: l.inertia(), Center: l.center, Labels: l.labels, Iterations: l.iterations, Converged: l.converged})
	})
}

// FromStarts completes KMeans from starts that Starts has run: start returns the one with
// the given number, from 0 to o.Restarts-1. The result is bit-identical to that of
// KMeans. Errors are those of KMeans, of start, and a start of other data or another k.
func FromStarts(ctx context.Context, x []float32, n, d int, o KMeansOptions, start func(number int) (Start, error)) (*KMeansResult, error) {
	p, err := o.shared(x, n, d)
	if err != nil {
		return nil, err
	}
	e := newEndings(p, o.K)
	l := newStart(p, o.K)
	for number := range o.Restarts {
		s, err := start(number)
		if err == nil {
			err = l.set(s)
		}
		if err != nil {
			return nil, fmt.Errorf("start %d of %d: %w", number+1, o.Restarts, err)
		}
		e.add(number, s.Inertia, l)
	}
	return o.choose(ctx, p, e)
}

// shared is what starts of several calls have in common.
func (o *KMeansOptions) shared(x []float32, n, d int) (*points, error) {
	f, err := o.frame(x, n, d)
	if err != nil {
		return nil, err
	}
	return o.points(f, x, n), nil
}

// set makes the state of s the start's.
func (l *lloyd) set(s Start) error {
	if len(s.Labels) != len(l.labels) || len(s.Center) != len(l.center) {
		return fmt.Errorf("%w: %d labels and %d numbers of centers, want %d and %d", ErrInput, len(s.Labels), len(s.Center), len(l.labels), len(l.center))
	}
	clear(l.size)
	for i, c := range s.Labels {
		if c < 0 || int(c) >= l.k {
			return fmt.Errorf("%w: row %d is in cluster %d of %d", ErrInput, i, c, l.k)
		}
		l.size[c]++
	}
	copy(l.labels, s.Labels)
	copy(l.center, s.Center)
	l.iterations, l.converged = s.Iterations, s.Converged
	return nil
}
