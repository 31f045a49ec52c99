package cluster

import (
	"context"
	"fmt"
)

// Start is how one start of KMeans has ended: what KMeans continues with.
type Start struct {
	Inertia    float64   // in the unit that the computation has chosen
	Center     []float64 // (k, d), in that unit
	Labels     []int32   // (n)
	Iterations int
	Converged  bool
}

// Starts does some of the starts of KMeans, those of the given numbers (from 0, ascending):
// starts do not depend on each other, so that several machines may share them. done is
// called with each; it may keep no slice of it. There are no starts with MiniBatch. Errors
// are those of KMeans, and of done.
func Starts(ctx context.Context, x []float32, n, d int, o KMeansOptions, numbers []int, done func(number int, s Start) error) error {
	p, err := o.shared(x, n, d)
	if err != nil {
		return err
	}
	return o.restarts(ctx, p, numbers, func(number int, l *lloyd) error {
		return done(number, Start{Inertia: l.inertia(), Center: l.center, Labels: l.labels, Iterations: l.iterations, Converged: l.converged})
	})
}

// FromStarts is KMeans with all of its starts done before: start returns that of a number,
// from 0 to o.Restarts-1. The result has the bits of KMeans. Errors are those of KMeans, of
// start, and a start of other data or another k.
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
