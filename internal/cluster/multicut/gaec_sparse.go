package multicut

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// sparseContraction contracts a sparse graph. An edge keeps its number while its
// ends are joined to others; of parallel edges the first is left. The list of the
// cluster with fewer edges goes into the other's, so that an edge moves O(log n)
// times.
type sparseContraction struct {
	rule   rule
	ends   [][2]int32 // of each edge: its clusters; -1 where it is gone
	cost   []float64
	queued []float64 // of each edge: the priority of its entry in the heap, 0 where there is none
	lists  edgeLists
	size   []int32 // of each cluster, where the rule asks for it
	root   []int32
	pairs  pairTable
	heap   edgeHeap
}

// mostEdges is the number of edges whose places an int32 counts.
const mostEdges = math.MaxInt32 / 2

func contractSparse(ctx context.Context, g *Graph, r rule) ([]int32, error) {
	if m := g.Edges(); m > mostEdges {
		return nil, fmt.Errorf("%w: %d edges; at most %d are clustered", ErrInput, m, mostEdges)
	}
	s := newSparseContraction(g, r)
	for step := 0; len(s.heap) > 0; step++ {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		top := s.heap.pop()
		if s.stale(top) {
			continue
		}
		e := top.edge
		switch p := s.priority(e); {
		case p != top.priority:
			s.queued[e] = 0
			s.queue(e)
		case p < 0:
			s.cost[e], s.queued[e] = forbidden, 0
		default:
			s.join(e)
		}
	}
	for i := range s.root {
		r := int32(i)
		for s.root[r] != r {
			s.root[r] = s.root[s.root[r]]
			r = s.root[r]
		}
		s.root[i] = r
	}
	return s.root, nil
}

func newSparseContraction(g *Graph, r rule) *sparseContraction {
	n, m := g.n, g.Edges()
	s := &sparseContraction{rule: r, ends: make([][2]int32, m), cost: make([]float64, m), queued: make([]float64, m),
		root: make([]int32, n), lists: newEdgeLists(n, m)}
	s.pairs.init(s.ends)
	if r == balancedRule {
		s.size = slices.Repeat([]int32{1}, n)
	}
	for i := range n {
		s.root[i] = int32(i)
	}
	e, queued := int32(0), 0
	g.Each(func(i, j int32, cost float64) {
		s.ends[e], s.cost[e] = [2]int32{i, j}, cost
		s.lists.add(i, 2*e)
		s.lists.add(j, 2*e+1)
		s.pairs.put(e)
		if s.priority(e) != 0 {
			queued++
		}
		e++
	})
	s.heap = make(edgeHeap, 0, queued)
	for e := range int32(m) {
		s.queue(e)
	}
	return s
}

// priority returns the signed priority of an edge: those of largest magnitude come
// first, 0 never.
func (s *sparseContraction) priority(e int32) float64 {
	w := s.cost[e]
	switch {
	case w > 0 && s.rule == balancedRule:
		return w / (float64(s.size[s.ends[e][0]]) + float64(s.size[s.ends[e][1]]))
	case w > 0 || s.rule == fixationRule && w != forbidden:
		return w
	}
	return 0
}

// stale tells that an entry is of an edge that is gone, or was entered anew since.
func (s *sparseContraction) stale(e entry) bool {
	return s.ends[e.edge][0] < 0 || e.priority != s.queued[e.edge]
}

// queue enters an edge into the heap where its priority is above what is queued;
// below, the entry is seen to be too high when it comes up.
func (s *sparseContraction) queue(e int32) {
	p := s.priority(e)
	if before(entry{p, e}, entry{s.queued[e], e}) {
		s.queued[e] = p
		if len(s.heap) == cap(s.heap) {
			s.heap = slices.DeleteFunc(s.heap, s.stale)
			s.heap.order()
			s.heap = slices.Grow(s.heap, 1+len(s.heap)/8) // else the next ones would search again
		}
		s.heap.push(entry{p, e})
	}
}

// join joins the clusters of edge e.
func (s *sparseContraction) join(e int32) {
	keep, drop := s.ends[e][0], s.ends[e][1]
	if s.lists.count[keep] < s.lists.count[drop] {
		keep, drop = drop, keep
	}
	s.root[drop] = keep
	if s.size != nil {
		s.size[keep] += s.size[drop]
	}
	s.pairs.remove(e)
	s.ends[e][0] = -1
	for at, next := s.lists.first[drop], int32(0); at >= 0; at = next {
		next = s.lists.next[at] // which changes where the place goes to another list
		f := at / 2
		if s.ends[f][0] < 0 {
			continue
		}
		x := s.ends[f][0] + s.ends[f][1] - drop
		s.pairs.remove(f)
		g, parallel := s.pairs.get(keep, x)
		first := f
		if parallel && g < f {
			first = g
			s.ends[f][0] = -1
		} else {
			if parallel {
				s.pairs.remove(g)
				s.ends[g][0] = -1
			}
			s.ends[f] = [2]int32{keep, x}
			s.lists.add(keep, at)
			s.pairs.put(f)
		}
		if !parallel {
			continue
		}
		s.cost[first] = s.cost[f] + s.cost[g]
		s.queue(first)
	}
}

// edgeLists are the edges of each cluster, with edges that are gone. An edge e has two
// places, 2e and 2e+1, one for the list of each of its ends.
type edgeLists struct {
	next        []int32 // of each place: the one behind it, -1 at the end
	first, last []int32 // of each cluster; first is -1 where there is none
	count       []int32
}

func newEdgeLists(n, m int) edgeLists {
	l := edgeLists{next: make([]int32, 2*m), first: make([]int32, n), last: make([]int32, n), count: make([]int32, n)}
	for i := range l.first {
		l.first[i] = -1
	}
	return l
}

// add puts a place at the end of a cluster's list.
func (l *edgeLists) add(cluster, place int32) {
	if l.first[cluster] < 0 {
		l.first[cluster] = place
	} else {
		l.next[l.last[cluster]] = place
	}
	l.last[cluster], l.next[place] = place, -1
	l.count[cluster]++
}
