package multicut

import (
	"cmp"
	"context"
	"slices"
)

// MutexWatershed clusters by the mutex watershed (Wolf et al. 2018, 2020): edges
// are taken by decreasing |cost|; a positive one joins its clusters unless they are
// mutually exclusive, a negative one makes them so. It has no parameter, and one
// strong edge decides about two clusters: on dense graphs of noisy costs it is
// poor.
//
// Of equal magnitudes joins come before cuts; other ties, zero costs, memory and
// errors are as for GAEC. Time is O(m log m) on a *Graph; on a complete graph the
// same clusters are found by contractions, of parallel edges the one of largest
// |cost| being kept.
func MutexWatershed(ctx context.Context, c Costs) (*Result, error) {
	return contract(ctx, c, "mutex-watershed", mutexRule)
}

func mutexSparse(ctx context.Context, g *Graph) ([]int32, error) {
	edges := make([]Edge, 0, g.Edges())
	g.Each(func(i, j int32, cost float64) {
		if cost != 0 {
			edges = append(edges, Edge{i, j, cost})
		}
	})
	slices.SortFunc(edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(max(b.Cost, -b.Cost), max(a.Cost, -a.Cost)), cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	root := make([]int32, g.n)
	for i := range root {
		root[i] = int32(i)
	}
	find := func(i int32) int32 {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	apart := make([]map[int32]struct{}, g.n) // of each root: the roots it excludes
	for k, e := range edges {
		if k%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a, b := find(e.I), find(e.J)
		if a == b {
			continue
		}
		if e.Cost < 0 {
			exclude(apart, a, b)
			exclude(apart, b, a)
			continue
		}
		if _, ok := apart[a][b]; ok {
			continue
		}
		if len(apart[a]) < len(apart[b]) {
			a, b = b, a
		}
		for x := range apart[b] {
			delete(apart[x], b)
			exclude(apart, x, a)
			exclude(apart, a, x)
		}
		apart[b] = nil
		root[b] = a
	}
	for i := range root {
		root[i] = find(int32(i))
	}
	return root, nil
}

func exclude(apart []map[int32]struct{}, a, b int32) {
	if apart[a] == nil {
		apart[a] = map[int32]struct{}{}
	}
	apart[a][b] = struct{}{}
}
