package exact

import (
	"cmp"
	"slices"

	"tercet/internal/par"
)

// cycleRow is a conflicted cycle: the variables of its edges.
type cycleRow struct {
	edges []int32
	cover float64 // by x
}

const (
	cycleLeast = 1e-6  // violation that counts
	cycleMost  = 10000 // cycles a round
)

// coreSearch finds shortest attractive paths from one node.
type coreSearch struct {
	dist   []float64
	hops   []int32
	via    []int32 // edge by which a node was reached
	from   []int32
	state  []int8 // 0 unseen, 1 in the heap, 2 done
	seen   []int32
	wanted []bool
	heap   heap[coreItem]
}

type coreItem struct {
	dist float64
	hops int32
	node int32
}

// before orders by distance, then by the number of edges.
func (a *coreItem) before(b *coreItem) bool {
	if a.dist != b.dist {
		return a.dist < b.dist
	}
	if a.hops != b.hops {
		return a.hops < b.hops
	}
	return a.node < b.node
}

// violated returns for each repulsive edge the conflicted cycle that x covers least,
// where that is less than 1: of equal ones a shortest, of too many those covered least.
func (c *core) violated(x []float64) []cycleRow {
	// Repulsive edges by their first node: one search each.
	var sources []int32
	of := make([][]int32, c.n)
	for k, e := range c.edges {
		if e.Cost < 0 && x[k] < 1-cycleLeast {
			if len(of[e.I]) == 0 {
				sources = append(sources, e.I)
			}
			of[e.I] = append(of[e.I], int32(k))
		}
	}
	rows := make([][]cycleRow, len(sources))
	var spare par.Free[coreSearch]
	par.For(len(sources), 8, func(lo, hi int) {
		s := spare.Get()
		if s.dist == nil {
			*s = coreSearch{dist: make([]float64, c.n), hops: make([]int32, c.n), via: make([]int32, c.n), from: make([]int32, c.n),
				state: make([]int8, c.n), wanted: make([]bool, c.n), heap: heap[coreItem]{less: (*coreItem).before}}
		}
		for i := lo; i < hi && !c.lp.Stopped(); i++ {
			rows[i] = s.cycles(c, x, sources[i], of[sources[i]])
		}
		spare.Put(s)
	})
	var all []cycleRow
	for _, r := range rows {
		all = append(all, r...)
	}
	if len(all) > cycleMost {
		slices.SortStableFunc(all, func(a, b cycleRow) int { return cmp.Compare(a.cover, b.cover) })
		all = all[:cycleMost]
	}
	return all
}

// cycles returns the violated cycles of the repulsive edges of one node.
func (s *coreSearch) cycles(c *core, x []float64, source int32, edges []int32) []cycleRow {
	// Dijkstra's algorithm as far as a violated cycle can reach.
	radius, left := 0.0, len(edges)
	for _, k := range edges {
		radius = max(radius, 1-cycleLeast-x[k])
		s.wanted[c.edges[k].J] = true
	}
	reach := func(v int32, dist float64, hops, from, via int32) {
		if s.state[v] == 0 {
			s.state[v] = 1
			s.seen = append(s.seen, v)
		} else if dist > s.dist[v] || dist == s.dist[v] && hops >= s.hops[v] {
			return
		}
		s.dist[v], s.hops[v], s.from[v], s.via[v] = dist, hops, from, via
		s.heap.push(coreItem{dist, hops, v})
	}
	reach(source, 0, 0, -1, -1)
	for len(s.heap.items) > 0 && left > 0 {
		top := s.heap.pop()
		u := top.node
		if s.state[u] == 2 {
			continue
		}
		s.state[u] = 2
		if s.wanted[u] {
			left--
		}
		for _, end := range c.ends[c.start[u]:c.start[u+1]] {
			if d := top.dist + max(0, x[end.edge]); s.state[end.to] != 2 && d < radius {
				reach(end.to, d, top.hops+1, u, end.edge)
			}
		}
	}
	var rows []cycleRow
	for _, k := range edges {
		v := c.edges[k].J
		s.wanted[v] = false
		if s.state[v] != 2 || x[k]+s.dist[v] >= 1-cycleLeast {
			continue
		}
		row := cycleRow{[]int32{k}, x[k] + s.dist[v]}
		for v != source {
			row.edges = append(row.edges, s.via[v])
			v = s.from[v]
		}
		rows = append(rows, row)
	}
	for _, v := range s.seen {
		s.state[v] = 0
	}
	s.seen, s.heap.items = s.seen[:0], s.heap.items[:0]
	return rows
}

// addCycles makes cycles rows of the program.
func (c *core) addCycles(cycles []cycleRow) {
	var ones []float64
	for _, r := range cycles {
		for len(ones) < len(r.edges) {
			ones = append(ones, 1)
		}
		c.lp.Add(r.edges, ones[:len(r.edges)], 1)
	}
}
