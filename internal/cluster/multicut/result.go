package multicut

import (
	"cmp"
	"errors"
	"slices"
)

// ErrInput is wrapped by every error about a graph, points or labels that cannot be
// used.
var ErrInput = errors.New("cannot cluster")

// Result is a clustering and what it costs.
type Result struct {
	Labels    []int32 // (n) numbers 0..k-1 by decreasing size, equal sizes by their first node
	Sizes     []int   // (k)
	Objective float64 // sum of the costs of the edges between clusters
	Solver    string
	Rounds    int  // passes over the nodes or cluster pairs, where the solver has such
	Proven    bool // no clustering costs less
	Warnings  []string
}

// NewResult numbers labels afresh in place and measures them.
func NewResult(solver string, c Costs, labels []int32) *Result {
	sizes := Renumber(labels)
	r := &Result{Labels: labels, Sizes: sizes, Objective: c.Objective(labels), Solver: solver}
	if g, ok := c.(*Graph); ok && g.warning != "" {
		r.Warnings = append(r.Warnings, g.warning)
	}
	return r
}

// Renumber replaces labels, any int32 numbers, by 0..k-1 in the order of decreasing
// size, equal sizes in the order of their first node, and returns the sizes.
func Renumber(labels []int32) []int {
	type group struct {
		first, size int
		label       int32
	}
	seen := map[int32]int{}
	var groups []group
	for i, l := range labels {
		g, ok := seen[l]
		if !ok {
			g = len(groups)
			seen[l] = g
			groups = append(groups, group{first: i, label: l})
		}
		groups[g].size++
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	sizes := make([]int, len(groups))
	number := make(map[int32]int32, len(groups))
	for k, g := range groups {
		sizes[k] = g.size
		number[g.label] = int32(k)
	}
	for i, l := range labels {
		labels[i] = number[l]
	}
	return sizes
}
