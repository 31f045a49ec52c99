package multicut

import (
	"context"
	"slices"
)

// sparseContraction contracts a sparse graph. An edge keeps its number while its
// ends are joined to others; of parallel edges the first is left. The list of the
// cluster with fewer edges goes into the other's, so that an edge moves O(log n)
// times.
type sparseContraction struct {
	rule  rule
	ends  [][2]int32 // of each edge: its clusters; -1 where it is gone
	cost  []float64
	lists edgeLists
	size  []int32 // of each cluster, where the rule asks for it
	root  []int32
	pairs pairTable
	heap  keyHeap // of edges, by priorities that their own are not above
}

func contractSparse(ctx context.Context, g *Graph, r rule) ([]int32, error) {
	s := newSparseContraction(g, r)
	for step := 0; len(s.heap.item) > 0; step++ {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := s.heap.pop()
		switch p := s.priority(e); {
		case p != s.heap.key[e]: // its clusters have grown since
			s.queue(e)
		case p < 0:
			s.cost[e] = forbidden
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
	s := &sparseContraction{rule: r, ends: make([][2]int32, m), cost: make([]float64, m), root: make([]int32, n), lists: newEdgeLists(n, m)}
	s.pairs.init(s.ends)
	key := s.cost
	if r == balancedRule {
		key, s.size = make([]float64, m), slices.Repeat([]int32{1}, n)
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
	// There are never more: of parallel edges one is left.
	s.heap = newKeyHeap(key, queued)
	s.heap.magnitude = r == fixationRule
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

// queue enters an edge into the heap, or moves it there, by its priority.
func (s *sparseContraction) queue(e int32) {
	p := s.priority(e)
	if p == 0 {
		s.heap.remove(e)
		return
	}
	s.heap.key[e] = p
	s.heap.fix(e)
}

// drop takes an edge out of everything but the lists, where it is marked.
func (s *sparseContraction) drop(e int32) {
	s.heap.remove(e)
	s.ends[e][0] = -1
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
		if parallel {
			sum := s.cost[f] + s.cost[g]
			if g < f {
				s.drop(f)
				s.cost[g] = sum
				s.queue(g)
				continue
			}
			s.pairs.remove(g)
			s.drop(g)
			s.cost[f] = sum
		}
		s.ends[f] = [2]int32{keep, x}
		s.lists.add(keep, at)
		s.pairs.put(f)
		if parallel {
			s.queue(f)
		}
	}
}

// edgeLists are the edges of each cluster, with edges that are gone. An edge e has two
// places, 2e and 2e+1, one for the list of each of its ends.
type edgeLists struct {
	next  []int32 // of each place: the one behind it, -1 at the end
	first []int32 // of each cluster; -1 where there is none
	count []int32
}

func newEdgeLists(n, m int) edgeLists {
	l := edgeLists{next: make([]int32, 2*m), first: make([]int32, n), count: make([]int32, n)}
	for i := range l.first {
		l.first[i] = -1
	}
	return l
}

// add puts a place at the front of a cluster's list.
func (l *edgeLists) add(cluster, place int32) {
	l.next[place], l.first[cluster] = l.first[cluster], place
	l.count[cluster]++
}
