package exact

// sets holds disjoint sets of nodes (union-find with path halving).
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for v := range s {
		s[v] = int32(v)
	}
	return s
}

// root returns the node that stands for v's set.
func (s sets) root(v int32) int32 {
	for s[v] != v {
		s[v] = s[s[v]]
		v = s[v]
	}
	return v
}

// roots returns the root of each node.
func (s sets) roots() []int32 {
	labels := make([]int32, len(s))
	for v := range labels {
		labels[v] = s.root(int32(v))
	}
	return labels
}
