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
		first, size int32
		label       int32
	}
	var groups []group
	seen := newNumbering(labels)
	for i, l := range labels {
		g := seen.of(l)
		if g < 0 {
			g = int32(len(groups))
			seen.set(l, g)
			groups = append(groups, group{first: int32(i), label: l})
		}
		groups[g].size++
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	sizes := make([]int, len(groups))
	for k, g := range groups {
		sizes[k] = int(g.size)
		seen.set(g.label, int32(k))
	}
	for i, l := range labels {
		labels[i] = seen.of(l)
	}
	return sizes
}

// numbering gives numbers to labels: in a list where all labels are below their count,
// as those of nodes are, else in a map.
type numbering struct {
	list []int32 // -1 where there is none
	rest map[int32]int32
}

func newNumbering(labels []int32) numbering {
	if len(labels) > 0 && (slices.Min(labels) < 0 || int(slices.Max(labels)) >= len(labels)) {
		return numbering{rest: map[int32]int32{}}
	}
	list := make([]int32, len(labels))
	for i := range list {
		list[i] = -1
	}
	return numbering{list: list}
}

// of returns the number of a label, -1 where it has none.
func (n *numbering) of(label int32) int32 {
	if n.list != nil {
		return n.list[label]
	}
	if k, ok := n.rest[label]; ok {
		return k
	}
	return -1
}

func (n *numbering) set(label, number int32) {
	if n.list != nil {
		n.list[label] = number
		return
	}
	n.rest[label] = number
}
