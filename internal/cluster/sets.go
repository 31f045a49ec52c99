package cluster

// Sets is a union-find structure: disjoint sets of numbers, each a tree of parents.
type Sets struct{ Parent []int32 }

// NewSets returns n sets of one number each.
func NewSets(n int) *Sets {
	s := &Sets{Parent: make([]int32, n)}
	for i := range s.Parent {
		s.Parent[i] = int32(i)
	}
	return s
}

// Find returns the root of i's tree, halving the path to it.
func (s *Sets) Find(i int32) int32 {
	for s.Parent[i] != i {
		s.Parent[i] = s.Parent[s.Parent[i]]
		i = s.Parent[i]
	}
	return i
}
