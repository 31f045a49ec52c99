package multicut

import (
	"context"
	"slices"
)

// sparseContraction contracts a sparse graph. An edge keeps its number while its
// ends are joined to others; of parallel edges the first is left. The edges of the
// cluster whose nodes have fewer neighbors become the other's, so that each is looked
// at O(log n) times.
type sparseContraction struct {
	g     *Graph
	rule  rule
	ends  [][2]int32 // of each edge: its clusters
	cost  []float64
	root  []int32
	next  []int32 // of each node: another of its cluster, in a ring
	arcs  []int32 // of each cluster: neighbors of its nodes
	size  []int32 // of each cluster, where the rule asks for it
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
		s.root[i] = s.find(int32(i))
	}
	return s.root, nil
}

// find returns the cluster of a node.
func (s *sparseContraction) find(v int32) int32 {
	for s.root[v] != v {
		s.root[v] = s.root[s.root[v]]
		v = s.root[v]
	}
	return v
}

func newSparseContraction(g *Graph, r rule) *sparseContraction {
	n, m := g.n, g.Edges()
	s := &sparseContraction{g: g, rule: r, ends: make([][2]int32, m), cost: make([]float64, m), root: make([]int32, n), next: make([]int32, n), arcs: make([]int32, n)}
	s.pairs.init(s.ends)
	key := s.cost
	if r == balancedRule {
		key, s.size = make([]float64, m), slices.Repeat([]int32{1}, n)
	}
	for i := range n {
		s.root[i], s.next[i], s.arcs[i] = int32(i), int32(i), g.start[i+1]-g.start[i]
	}
	e, queued := int32(0), 0
	g.Each(func(i, j int32, cost float64) {
		s.ends[e], s.cost[e] = [2]int32{i, j}, cost
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

// join joins the clusters of edge e.
func (s *sparseContraction) join(e int32) {
	keep, drop := s.ends[e][0], s.ends[e][1]
	if s.arcs[keep] < s.arcs[drop] {
		keep, drop = drop, keep
	}
	s.root[drop] = keep
	s.arcs[keep] += s.arcs[drop]
	if s.size != nil {
		s.size[keep] += s.size[drop]
	}
	s.pairs.remove(e)
	for v := s.next[drop]; ; v = s.next[v] {
		to, _ := s.g.Neighbors(v)
		for _, u := range to {
			if x := s.find(u); x != keep {
				s.redirect(drop, keep, x)
			}
		}
		if v == drop {
			break
		}
	}
	s.next[keep], s.next[drop] = s.next[drop], s.next[keep]
}

// redirect makes the edge of the clusters drop and x one of keep and x, if it is not yet.
func (s *sparseContraction) redirect(drop, keep, x int32) {
	e, ok := s.pairs.get(drop, x)
	if !ok {
		return
	}
	s.pairs.remove(e)
	other, parallel := s.pairs.get(keep, x)
	if !parallel {
		s.ends[e] = [2]int32{keep, x}
		s.pairs.put(e)
		return
	}
	sum := s.cost[e] + s.cost[other]
	if e < other {
		s.pairs.remove(other)
		s.ends[e] = [2]int32{keep, x}
		s.pairs.put(e)
		e, other = other, e
	}
	s.heap.remove(e) // of the two, other is the first
	s.cost[other] = sum
	s.queue(other)
}
