package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tercet/internal/rng"
)

// startCenters is the number of centers up to which several starts run in step:
// their products with a block of rows then are one product of good shape, and
// each row is read once for all.
const startCenters = 128

// run does the starts of these numbers in step; told is Progress for them.
func (o *KMeansOptions) run(ctx context.Context, starts []*lloyd, restarts []int, told func(ended, iteration int)) error {
	streams := make([]*rng.Stream, len(starts))
	for i, l := range starts {
		l.reset()
		streams[i] = rng.New(o.Seed, "cluster/kmeans", uint64(restarts[i]))
	}
	if err := seed(ctx, starts, streams); err != nil {
		return err
	}
	return iterate(ctx, starts, o.MaxIterations, o.Tolerance*starts[0].data.variance, told)
}

// startBytes is the memory that starts in step may take in any case.
const startBytes = 16 << 20

// roomForStarts is the number of starts with k centers that run in step: of many rows
// what a start holds of a row, of long rows its centers, may take more than the data.
func (p *points) roomForStarts(k int) int {
	const row = 32    // bytes of a row, about: labels, changes, and distances while centers are drawn
	const number = 20 // bytes of a number of a center
	return max(1, max(startBytes, 2*len(p.x))/(row*p.n+number*k*p.d))
}

// improved is the number of starts, the best ones, that swaps are tried on.
const improved = 5

// sameShare is the difference of inertias below which starts count as equal.
const sameShare = 1e-9

// restarts does the starts of these numbers, several in step, and calls done for each.
func (o *KMeansOptions) restarts(ctx context.Context, p *points, numbers []int, done func(restart int, l *lloyd) error) error {
	starts := make([]*lloyd, max(1, min(len(numbers), startCenters/o.K, p.roomForStarts(o.K))))
	for i := range starts {
		starts[i] = newStart(p, o.K)
	}
	ended := 0
	for now := range slices.Chunk(numbers, len(starts)) {
		starts = starts[:len(now)]
		err := o.run(ctx, starts, now, func(more, iteration int) {
			if o.Progress != nil {
				o.Progress(ended+more, iteration)
			}
		})
		if err != nil {
			return fmt.Errorf("k-means stopped in start %d of %d: %w", now[0]+1, o.Restarts, err)
		}
		for i, l := range starts {
			if err := done(now[i], l); err != nil {
				return err
			}
		}
		ended += len(now)
	}
	return nil
}

// best runs the restarts and keeps the best.
func (o *KMeansOptions) best(ctx context.Context, p *points) (*KMeansResult, error) {
	all := make([]int, o.Restarts)
	for i := range all {
		all[i] = i
	}
	e := newEndings(p, o.K)
	err := o.restarts(ctx, p, all, func(restart int, l *lloyd) error {
		e.add(restart, l.inertia(), l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return o.choose(ctx, p, e)
}

// endings are those of the best starts, by inertia, the earlier of equals first.
type endings struct {
	most       int
	best       []ending
	iterations int // of all starts
}

func newEndings(p *points, k int) *endings {
	if p.budget(k, 0).free == 0 { // there will be no swaps of others than the best
		return &endings{most: 1}
	}
	return &endings{most: improved}
}

// add considers how a start has ended. Starts are added in the order of their numbers.
func (e *endings) add(restart int, inertia float64, l *lloyd) {
	e.iterations += l.iterations
	if len(e.best) == e.most && inertia >= e.best[e.most-1].inertia {
		return
	}
	one := ending{restart: restart, inertia: inertia}
	one.keep(l)
	e.best = append(e.best, one)
	slices.SortStableFunc(e.best, func(a, b ending) int { return cmp.Compare(a.inertia, b.inertia) })
	e.best = e.best[:min(len(e.best), e.most)]
}

// choose improves the best starts by swaps and returns the best then.
func (o *KMeansOptions) choose(ctx context.Context, p *points, ended *endings) (*KMeansResult, error) {
	data := p.centered
	l := newStart(p, o.K)
	best, before := 0, -1.
	b := p.budget(o.K, ended.iterations)
	for i := range ended.best {
		e := &ended.best[i]
		same := e.inertia-before <= sameShare*e.inertia
		if before = e.inertia; same || i > 0 && min(b.left, b.free) <= 0 { // most likely the same centers in another order
			continue
		}
		if i > 0 {
			b.left = min(b.left, b.free)
		}
		l.restore(e)
		var err error
		if e.inertia, err = l.improve(ctx, e.inertia, o.MaxIterations, o.Tolerance*data.variance, b); err != nil {
			return nil, fmt.Errorf("k-means stopped in swaps: %w", err)
		}
		e.keep(l)
		if e.inertia < ended.best[best].inertia {
			best = i
		}
	}
	l.restore(&ended.best[best])
	least, restart := ended.best[best].inertia, ended.best[best].restart
	r := &KMeansResult{Labels: slices.Clone(l.labels), Centers: l.original(), Sizes: slices.Clone(l.size), Inertia: least / (data.scale * data.scale),
		Iterations: l.iterations, Restart: restart, Converged: l.converged}
	r.warn(data, *o)
	return r, nil
}
