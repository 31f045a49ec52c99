package multicut

import (
	"context"
	"math"

	"tercet/internal/rng"
)

// klGraph is what the rounds ask of a sparse or complete graph.
type klGraph interface {
	// pairs calls f for all pairs of clusters a < b with an edge between them of
	// which one has changed in round since or later, until f returns false.
	pairs(since int32, f func(a, b int32) bool)
	// exchange makes the best change between two clusters, b may be empty, that
	// lowers the objective by more than the least decrease, and returns by how much;
	// 0 where there is none. Long chains end early unless complete.
	exchange(a, b int32, least float64, complete bool) float64
	// disconnect makes the components of the clusters that have changed in round
	// since or later single-item clusters.
	disconnect(since, round int32)
	// magnitude returns the largest sum of |cost| at a node.
	magnitude() float64
	// move moves a node from its cluster to another.
	move(v, from, to int32)
	// neighbor returns a random neighbor of a node, the node itself where it has
	// none.
	neighbor(v int32, r *rng.Stream) int32
}

// klSearch is a search in progress.
type klSearch struct {
	g        klGraph
	p        *klClusters
	o        KLOptions
	least    float64 // decrease that counts
	total    float64 // of all costs
	lowest   float64 // objective so far
	round    int
	complete bool // chains are complete, after rounds of shorter ones
}

// run improves the clusters and says whether the last round changed nothing.
func (k *klSearch) run(ctx context.Context) (converged bool, err error) {
	k.least = k.o.Epsilon
	if k.least == 0 {
		k.least = 1e-11 * k.g.magnitude()
	}
	k.lowest = k.objective()
	k.g.disconnect(0, 0)
	if converged, err = k.descend(ctx); err != nil || !converged && k.o.Restarts == 0 {
		return converged, err
	}
	if err := k.restarts(ctx); err != nil {
		return false, err
	}
	k.complete = true
	return k.descend(ctx)
}

// objective returns the sum of the costs between the clusters.
func (k *klSearch) objective() float64 {
	twice := 0.0
	for _, o := range k.p.own {
		twice += o
	}
	return k.total - float64(twice/2)
}

// descend does rounds until one changes nothing and says whether one did so. The
// first one with complete chains looks at all pairs again.
func (k *klSearch) descend(ctx context.Context) (converged bool, err error) {
	all := k.complete
	for range k.o.Outer {
		k.round++
		round := int32(k.round)
		changed, err := k.once(ctx, round, all)
		if err != nil {
			return false, err
		}
		all = false
		k.lowest = min(k.lowest, k.objective())
		if k.o.Progress != nil {
			k.o.Progress(k.round, k.lowest)
		}
		if !changed {
			return true, nil
		}
		k.g.disconnect(round, round)
	}
	return false, nil
}

// once does one round and says whether it changed something.
func (k *klSearch) once(ctx context.Context, round int32, all bool) (changed bool, err error) {
	p := k.p
	since := round - 1
	if all {
		since = 0
	}
	try := func(a, b int32, complete bool) bool {
		gain := k.g.exchange(a, b, k.least, complete)
		if gain > 0 {
			changed = true
			p.touch(a, round)
			p.touch(b, round)
		}
		err = ctx.Err()
		return gain > 0 && err == nil
	}
	k.g.pairs(since, func(a, b int32) bool {
		m := len(p.groups[a]) + len(p.groups[b])
		if len(p.groups[a]) > 0 && len(p.groups[b]) > 0 && (!all || m > klShort) {
			try(a, b, k.complete)
		}
		return err == nil
	})
	for a := int32(0); err == nil && int(a) < len(p.groups); a++ {
		for p.whole[a] && len(p.groups[a]) > 1 {
			if !try(a, p.empty(), true) {
				p.whole[a] = false
			}
		}
	}
	return changed, err
}

// klPatience returns after how many moves without a better beginning a chain of m
// nodes ends. What comes later hardly ever gains where two clusters are exchanged,
// and would take most of the time: complete chains are for splits, where they find
// what else is missed, and for the last rounds.
func klPatience(m int, complete bool) int {
	if complete {
		return m
	}
	return max(klShort, 4*int(math.Sqrt(float64(m))))
}

// klShort is the number of nodes up to which all chains are complete.
const klShort = 64
