package theory

import (
	"context"
	"fmt"
	"sync"

	"tercet/internal/noise"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// maxSimulated is the largest number of images of a graph that Simulate draws, MaxDraws
// that of graphs.
const (
	maxSimulated = 1 << 20
	MaxDraws     = 1_000_000
)

// SimOptions says which graphs Simulate draws.
type SimOptions struct {
	Classes, PerClass int
	P                 float64 // probability that a pair's label is wrong
	Negatives         string  // noise.SameIndex or noise.RandomOne
	Draws             int
	Seed              uint64
	Limits            FloorLimits // of each draw
	// Done, where set, is called after each draw, from one goroutine at a time.
	Done func(printed.Draw)
}

// Simulate draws graphs of labeled pairs as Theorem 1 has them, see DIBS, with a draw
// of its own for every number from 0, and finds the floors of each: exactly, as far as
// the limits go. Draws are made side by side; the answer does not depend on the number
// of threads.
//
// Where ctx is done, the draws that were finished come with its error; nil if none.
// Errors: those of DIBS; negatives of another name; no draws, or more than MaxDraws; more than
// maxSimulated images; negative limits.
func Simulate(ctx context.Context, o SimOptions) (*printed.Simulation, error) {
	bounds, err := DIBS(o.Classes, o.PerClass, o.P)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Negatives != noise.SameIndex && o.Negatives != noise.RandomOne:
		return nil, fmt.Errorf("%w: negatives are %q; choose %s or %s", ErrInput, o.Negatives, noise.SameIndex, noise.RandomOne)
	case o.Draws < 1:
		return nil, fmt.Errorf("%w: number of draws is %d; one or more are needed", ErrInput, o.Draws)
	case o.Draws > MaxDraws:
		return nil, fmt.Errorf("%w: number of draws is %d; at most %d", ErrInput, o.Draws, MaxDraws)
	case o.PerClass > maxSimulated/o.Classes:
		return nil, fmt.Errorf("%w: %d classes of %d images each are too many to draw; at most %d images in all", ErrInput, o.Classes, o.PerClass, maxSimulated)
	case o.Limits.Nodes < 0 || o.Limits.Work < 0:
		return nil, fmt.Errorf("%w: limits of %d nodes and %d multiplications: both must be non-negative", ErrInput, o.Limits.Nodes, o.Limits.Work)
	}
	truth := make([]int32, o.Classes*o.PerClass)
	for i := range truth {
		truth[i] = int32(i / o.PerClass)
	}
	draws, errs := make([]printed.Draw, o.Draws), make([]error, o.Draws)
	var mu sync.Mutex // for Done
	par.For(o.Draws, 1, func(lo, _ int) {
		if errs[lo] = ctx.Err(); errs[lo] != nil {
			return
		}
		draws[lo], errs[lo] = draw(ctx, truth, o, lo)
		if errs[lo] == nil && o.Done != nil {
			mu.Lock()
			defer mu.Unlock()
			o.Done(draws[lo])
		}
	})
	s := &printed.Simulation{Negatives: o.Negatives, Seed: o.Seed, Wanted: o.Draws, Images: len(truth), Pairs: 2 * len(truth)}
	for i, e := range errs {
		switch {
		case e == nil:
			s.Draws = append(s.Draws, draws[i])
		case err == nil:
			err = e
		}
	}
	if len(s.Draws) == 0 {
		return nil, err
	}
	sum(s, o, bounds)
	return s, err
}

// draw makes graph number n and finds its floors.
func draw(ctx context.Context, truth []int32, o SimOptions, n int) (printed.Draw, error) {
	pairs, report, err := noise.Graph(truth, truth, o.Classes, noise.GraphOptions{
		Scenario: noise.Full, Negatives: o.Negatives, Order: noise.Shuffled,
		Wrong: noise.Coins(2 * o.P), Seed: o.Seed, Draw: uint64(n),
	})
	if err != nil {
		return printed.Draw{}, err
	}
	f, err := Floor(ctx, pairs, o.Limits)
	return printed.Draw{Draw: n, Wrong: report.Wrong, GraphFloor: f}, err
}

// sum takes the means over the draws and holds the bounds against them.
func sum(s *printed.Simulation, o SimOptions, b record.DIBSBounds) {
	share := func(count func(printed.Draw) int) []float64 {
		out := make([]float64, len(s.Draws))
		for i, d := range s.Draws {
			out[i] = float64(count(d)) / float64(s.Pairs)
		}
		return out
	}
	duplicates := share(func(d printed.Draw) int { return d.Duplicates })
	errors := share(func(d printed.Draw) int { return d.Errors })
	lower := share(func(d printed.Draw) int { return d.Lower })
	clusters := make([]float64, len(s.Draws))
	for i, d := range s.Draws {
		clusters[i] = float64(d.Clusters)
		if d.Proven {
			s.Proven++
		}
	}
	s.Wrong = mean(share(func(d printed.Draw) int { return d.Wrong }))
	s.FloorDuplicates, s.Expected = mean(duplicates), duplicatesFloor(o.Classes, o.PerClass, o.P, o.Negatives)
	s.Multicut, s.Clusters = mean(errors), mean(clusters)
	if s.Proven < len(s.Draws) {
		m := mean(lower)
		s.MulticutLower = &m
	}
	if o.Negatives == noise.SameIndex {
		s.Theorem = &printed.Theorem{
			FloorDuplicates: checkExpected(b, duplicates, s.Expected),
			Multicut:        check(b, lower, errors),
		}
	}
}
