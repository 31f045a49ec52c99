package multicut

import (
	"context"
	"math"
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
	// since or later clusters of their own.
	disconnect(since, round int32)
	// magnitude returns the largest sum of |cost| at a node.
	magnitude() float64
}

// klSearch is a search in progress.
type klSearch struct {
	c         Costs
	g         klGraph
	p         *klClusters
	o         KLOptions
	round     int
	objective float64
	complete  bool // chains are complete, after rounds of shorter ones
}

// run does rounds until one changes nothing and says whether one did so.
func (k *klSearch) run(ctx context.Context) (converged bool, err error) {
	least := k.o.Epsilon
	if least == 0 {
		least = 1e-11 * k.g.magnitude()
	}
	k.g.disconnect(0, 0)
	all := true // pairs are due, whether they have changed or not
	for k.round < k.o.Outer {
		k.round++
		decrease, err := k.once(ctx, int32(k.round), least, all)
		if err != nil {
			return false, err
		}
		k.objective -= decrease
		if k.o.Progress != nil {
			k.o.Progress(k.round, k.objective)
		}
		all = false
		switch {
		case decrease > 0:
			k.g.disconnect(int32(k.round), int32(k.round))
		case k.complete:
			return true, nil
		default:
			k.complete, all = true, true
		}
	}
	return false, nil
}

// once does one round and returns by how much it lowered the objective.
func (k *klSearch) once(ctx context.Context, round int32, least float64, all bool) (decrease float64, err error) {
	p := k.p
	since := round - 1
	if all {
		since = 0
	}
	k.g.pairs(since, func(a, b int32) bool {
		m := len(p.groups[a]) + len(p.groups[b])
		if len(p.groups[a]) == 0 || len(p.groups[b]) == 0 || all && k.complete && m <= klShort {
			return true
		}
		if gain := k.g.exchange(a, b, least, k.complete); gain > 0 {
			decrease += gain
			p.touch(a, round)
			p.touch(b, round)
		}
		err = ctx.Err()
		return err == nil
	})
	for a := int32(0); err == nil && int(a) < len(p.groups); a++ {
		for p.whole[a] && len(p.groups[a]) > 1 {
			b := p.empty()
			gain := k.g.exchange(a, b, least, true)
			if gain == 0 {
				p.whole[a] = false
				break
			}
			decrease += gain
			p.touch(a, round)
			p.touch(b, round)
			if err = ctx.Err(); err != nil {
				break
			}
		}
	}
	return decrease, err
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

// klClusters are the clusters of a search. Numbers of clusters that run empty are
// used again.
type klClusters struct {
	label   []int32
	groups  [][]int32 // nodes of each cluster
	place   []int32   // of each node in its group
	own     []float64 // of each node: sum of its costs with its cluster
	changed []int32   // round of each cluster's last change
	whole   []bool    // clusters that may come apart: no split was tried since the last change
	free    []int32   // numbers of clusters that are empty, to be looked at again
}

func newKLClusters(labels []int32) *klClusters {
	n := len(labels)
	p := &klClusters{label: make([]int32, n), place: make([]int32, n), own: make([]float64, n)}
	copy(p.label, labels)
	for range Renumber(p.label) {
		p.add()
	}
	for i, l := range p.label {
		p.put(int32(i), l)
	}
	return p
}

// add appends an empty cluster.
func (p *klClusters) add() int32 {
	p.groups, p.changed, p.whole = append(p.groups, nil), append(p.changed, 0), append(p.whole, true)
	return int32(len(p.groups) - 1)
}

// empty returns an empty cluster.
func (p *klClusters) empty() int32 {
	for len(p.free) > 0 {
		a := p.free[len(p.free)-1]
		if len(p.groups[a]) == 0 {
			return a
		}
		p.free = p.free[:len(p.free)-1]
	}
	a := p.add()
	p.free = append(p.free, a)
	return a
}

// touch notes that a cluster has changed.
func (p *klClusters) touch(a, round int32) {
	p.changed[a], p.whole[a] = round, true
	if len(p.groups[a]) == 0 {
		p.free = append(p.free, a)
	}
}

// put enters a node that is in no group into a cluster.
func (p *klClusters) put(v, a int32) {
	p.label[v], p.place[v] = a, int32(len(p.groups[a]))
	p.groups[a] = append(p.groups[a], v)
}

// move puts a node into another cluster. The sums own are the caller's.
func (p *klClusters) move(v, to int32) {
	group := p.groups[p.label[v]]
	last := group[len(group)-1]
	group[p.place[v]], p.place[last] = last, p.place[v]
	p.groups[p.label[v]] = group[:len(group)-1]
	p.put(v, to)
}
