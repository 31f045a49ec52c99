package factored

import (
	"context"
	"fmt"
)

// dissolve puts the nodes of clusters below the smallest size into those of the
// others, as they are then, with which they cost most in sum by products in float32,
// even if that is below 0. It returns what there is to say.
func (f *Graph) dissolve(ctx context.Context, labels []int32, smallest int) ([]string, error) {
	_, sizes := number(labels)
	s := newState(f)
	s.set(labels)
	var kept []int32
	for c, n := range sizes {
		if n >= smallest {
			kept = append(kept, int32(c))
		}
	}
	if len(kept) == len(sizes) {
		return nil, nil
	}
	if len(kept) == 0 {
		return []string{fmt.Sprintf("no cluster has %d nodes: none was dissolved", smallest)}, nil
	}
	// A clustering of the kept clusters alone, the other nodes in none.
	before := f.Objective(labels)
	place := make([]int32, len(sizes))
	for c := range place {
		place[c] = -1
	}
	for p, c := range kept {
		place[c] = int32(p)
		copy(s.of(int32(p)), s.of(c))
		s.size[p], s.square[p] = s.size[c], s.square[c]
	}
	k := len(kept)
	s.size, s.square, s.sum = s.size[:k], s.square[:k], s.sum[:k*f.d]
	var nodes []int32
	for i, c := range s.labels {
		if s.labels[i] = place[c]; s.labels[i] < 0 {
			nodes = append(nodes, int32(i))
		}
	}
	var search search
	search.prepare(s)
	if err := search.run(ctx, nodes, nil); err != nil {
		return nil, err
	}
	for i, v := range nodes {
		s.labels[v] = max(0, search.best[i])
	}
	copy(labels, s.labels)
	return []string{fmt.Sprintf("%d clusters of fewer than %d nodes were dissolved and their %d nodes put into others: the objective rose from %.9g to %.9g",
		len(sizes)-k, smallest, len(nodes), before, f.Objective(labels))}, nil
}
