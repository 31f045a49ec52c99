package multicut

import "context"

// sparseContraction contracts a sparse graph. An edge keeps its number while its
// ends are joined to others; of parallel edges the first is left. The list of the
// cluster with fewer edges goes into the other's, so that an edge moves O(log n)
// times.
type sparseContraction struct {
	rule   rule
	ends   [][2]int32 // of each edge: its clusters; -1 where it is gone
	cost   []float64
	queued []float64 // of each edge: the priority of its entry in the heap, 0 where there is none
	edges  [][]int32 // of each cluster, with edges that are gone
	size   []float64
	root   []int32
	pairs  pairTable
	heap   edgeHeap
}

func contractSparse(ctx context.Context, g *Graph, r rule) ([]int32, error) {
	s := newSparseContraction(g, r)
	for step := 0; len(s.heap) > 0; step++ {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		top := s.heap.pop()
		e := top.edge
		if s.ends[e][0] < 0 || top.priority != s.queued[e] {
			continue
		}
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
	s := &sparseContraction{rule: r, ends: make([][2]int32, 0, m), cost: make([]float64, 0, m), queued: make([]float64, m),
		edges: make([][]int32, n), size: make([]float64, n), root: make([]int32, n), heap: make(edgeHeap, 0, m)}
	s.pairs.init(m)
	lists := make([]int32, 2*m)
	for i := range n {
		s.edges[i] = lists[g.start[i]:g.start[i]:g.start[i+1]]
		s.root[i], s.size[i] = int32(i), 1
	}
	g.Each(func(i, j int32, cost float64) {
		e := int32(len(s.ends))
		s.ends, s.cost = append(s.ends, [2]int32{i, j}), append(s.cost, cost)
		s.edges[i], s.edges[j] = append(s.edges[i], e), append(s.edges[j], e)
		s.pairs.put(i, j, e)
		s.queue(e)
	})
	return s
}

// priority returns the signed priority of an edge: those of largest magnitude come
// first, 0 never.
func (s *sparseContraction) priority(e int32) float64 {
	w := s.cost[e]
	switch {
	case w > 0 && s.rule == balancedRule:
		return w / (s.size[s.ends[e][0]] + s.size[s.ends[e][1]])
	case w > 0 || s.rule == fixationRule && w != forbidden:
		return w
	}
	return 0
}

// queue enters an edge into the heap where its priority is above what is queued;
// below, the entry is seen to be too high when it comes up.
func (s *sparseContraction) queue(e int32) {
	p := s.priority(e)
	if before(entry{p, e}, entry{s.queued[e], e}) {
		s.queued[e] = p
		s.heap.push(entry{p, e})
	}
}

// join joins the clusters of edge e.
func (s *sparseContraction) join(e int32) {
	keep, drop := s.ends[e][0], s.ends[e][1]
	if len(s.edges[keep]) < len(s.edges[drop]) {
		keep, drop = drop, keep
	}
	s.root[drop] = keep
	s.size[keep] += s.size[drop]
	s.ends[e][0] = -1
	s.pairs.remove(keep, drop)
	for _, f := range s.edges[drop] {
		if s.ends[f][0] < 0 {
			continue
		}
		x := s.ends[f][0] + s.ends[f][1] - drop
		s.pairs.remove(drop, x)
		g, parallel := s.pairs.get(keep, x)
		if !parallel {
			s.ends[f] = [2]int32{keep, x}
			s.edges[keep] = append(s.edges[keep], f)
			s.pairs.put(keep, x, f)
			continue
		}
		cost := s.cost[f] + s.cost[g]
		first, other := min(f, g), max(f, g)
		s.ends[other][0] = -1
		if first == f {
			s.ends[f] = [2]int32{keep, x}
			s.edges[keep] = append(s.edges[keep], f)
			s.pairs.put(keep, x, f)
		}
		s.cost[first] = cost
		s.queue(first)
	}
	s.edges[drop] = nil
}
