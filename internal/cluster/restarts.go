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

// run does starts first, first+1, ... in step.
func (o *KMeansOptions) run(ctx context.Context, starts []*lloyd, first int, tolerance float64) error {
	streams := make([]*rng.Stream, len(starts))
	for i, l := range starts {
		l.reset()
		streams[i] = rng.New(o.Seed, "cluster/kmeans", uint64(first+i))
	}
	if err := seed(ctx, starts, streams); err != nil {
		return err
	}
	return iterate(ctx, starts, o.MaxIterations, tolerance, func(ended, iteration int) {
		if o.Progress != nil {
			o.Progress(first+ended, iteration)
		}
	})
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

// best runs the restarts and keeps the best.
func (o *KMeansOptions) best(ctx context.Context, p *points) (*KMeansResult, error) {
	data := p.centered
	starts := make([]*lloyd, min(o.Restarts, max(1, startCenters/o.K), p.roomForStarts(o.K)))
	for i := range starts {
		starts[i] = newStart(p, o.K)
	}
	var ended []ending // the best ones, by inertia
	most, iterations := improved, 0
	if p.budget(o.K, 0).free == 0 { // there will be none for others than the best
		most = 1
	}
	for first := 0; first < o.Restarts; first += len(starts) {
		starts = starts[:min(len(starts), o.Restarts-first)]
		if err := o.run(ctx, starts, first, o.Tolerance*data.variance); err != nil {
			return nil, fmt.Errorf("k-means stopped in start %d of %d: %w", first+1, o.Restarts, err)
		}
		for i, l := range starts {
			iterations += l.iterations
			e := ending{restart: first + i, inertia: l.inertia()}
			if len(ended) == most && e.inertia >= ended[most-1].inertia {
				continue
			}
			e.keep(l)
			ended = append(ended, e)
			slices.SortStableFunc(ended, func(a, b ending) int { return cmp.Compare(a.inertia, b.inertia) })
			ended = ended[:min(len(ended), most)]
		}
	}
	l := starts[0]
	starts = nil
	best, before := 0, -1.
	b := p.budget(o.K, iterations)
	for i := range ended {
		e := &ended[i]
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
		if e.inertia < ended[best].inertia {
			best = i
		}
	}
	l.restore(&ended[best])
	least, restart := ended[best].inertia, ended[best].restart
	r := &KMeansResult{Labels: slices.Clone(l.labels), Centers: l.original(), Sizes: slices.Clone(l.size), Inertia: least / (data.scale * data.scale),
		Iterations: l.iterations, Restart: restart, Converged: l.converged}
	r.warn(data, *o)
	return r, nil
}
