package density

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/cluster"
)

// levels is the tree of single linkage in which parts that come together at one
// distance are children of one node.
type levels struct {
	n     int
	order []int32 // the rows, those of each node next to one another
	nodes []level // children before their parents, the last is the root
	parts []int32 // children: a row, or n + the number of a node
}

// level is a node: a component that comes together at a distance.
type level struct {
	distance   float64
	from, to   int // its rows in order
	first, end int // its children in parts
}

// newLevels makes the tree of n rows from the n-1 edges of a minimum spanning tree.
func newLevels(edges []edge, n int) *levels {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.square, b.square) })
	l := &levels{n: n}
	s := cluster.NewSets(n)
	top := make([]int32, n) // of the set with this root: its node
	for i := range top {
		top[i] = int32(i)
	}
	members := make([][]int32, n) // of the set with this root: nodes that come together now
	for lo := 0; lo < len(edges); {
		hi := lo
		for hi < len(edges) && edges[hi].square == edges[lo].square {
			hi++
		}
		var touched []int32
		for _, e := range edges[lo:hi] {
			a, b := s.Find(e.a), s.Find(e.b)
			for _, r := range [2]int32{a, b} {
				if members[r] == nil {
					members[r] = append(members[r], top[r])
					touched = append(touched, r)
				}
			}
			if len(members[a]) < len(members[b]) {
				a, b = b, a
			}
			s.Parent[b] = a
			members[a] = append(members[a], members[b]...)
		}
		for _, r := range touched {
			if s.Parent[r] == r {
				slices.Sort(members[r])
				first := len(l.parts)
				l.parts = append(l.parts, members[r]...)
				top[r] = int32(n + len(l.nodes))
				l.nodes = append(l.nodes, level{distance: math.Sqrt(edges[lo].square), first: first, end: len(l.parts)})
			}
		}
		for _, r := range touched {
			members[r] = nil
		}
		lo = hi
	}
	l.lay()
	return l
}

// lay orders the rows.
func (l *levels) lay() {
	l.order = make([]int32, 0, l.n)
	if len(l.nodes) == 0 {
		l.order = append(l.order, 0)
		return
	}
	for i := range l.nodes { // sizes first, in to
		v := &l.nodes[i]
		for _, p := range l.parts[v.first:v.end] {
			v.to += l.size(p)
		}
	}
	l.order = l.order[:l.n]
	for i := len(l.nodes) - 1; i >= 0; i-- {
		v := &l.nodes[i]
		at := v.from
		for _, p := range l.parts[v.first:v.end] {
			if int(p) < l.n {
				l.order[at] = p
				at++
				continue
			}
			c := &l.nodes[int(p)-l.n]
			c.from, c.to = at, at+c.to
			at = c.to
		}
	}
}

// size is the number of rows of a child, while from is still 0 or once both are set.
func (l *levels) size(part int32) int {
	if int(part) < l.n {
		return 1
	}
	v := &l.nodes[int(part)-l.n]
	return v.to - v.from
}

// rows are those of a child.
func (l *levels) rows(part int32) []int32 {
	if int(part) < l.n {
		return []int32{part}
	}
	v := &l.nodes[int(part)-l.n]
	return l.order[v.from:v.to]
}
