package multicut

import (
	"slices"

	"tercet/internal/rng"
)

// klSparse exchanges nodes of a sparse graph. Only nodes with a neighbor on the
// other side are candidates, but for the first of a split. Work is for the edges
// of the smaller cluster and of nodes that move.
type klSparse struct {
	g     *Graph
	p     *klClusters
	gain  []float64 // of the nodes seen in the exchange at hand
	near  []int32   // of the same: neighbors on the other side
	state []klState
	seen  []int32
	chain []int32
	heap  keyHeap
	keys  []uint64
}

type klState uint8

const (
	klUnseen klState = iota
	klSeen
	klMoved
)

func newKLSparse(g *Graph, p *klClusters) *klSparse {
	k := &klSparse{g: g, p: p, gain: make([]float64, g.n), near: make([]int32, g.n), state: make([]klState, g.n)}
	k.heap = newKeyHeap(k.gain, 0)
	for v := range int32(g.n) {
		to, cost := g.Neighbors(v)
		for e, u := range to {
			if p.label[u] == p.label[v] {
				p.own[v] += cost[e]
			}
		}
	}
	return k
}

func (k *klSparse) magnitude() float64 {
	most := 0.0
	for v := range int32(k.g.n) {
		sum := 0.0
		_, cost := k.g.Neighbors(v)
		for _, w := range cost {
			sum += max(w, -w)
		}
		most = max(most, sum)
	}
	return most
}

func (k *klSparse) neighbor(v int32, r *rng.Stream) int32 {
	to, _ := k.g.Neighbors(v)
	if len(to) == 0 {
		return v
	}
	return to[r.IntN(len(to))]
}

func (k *klSparse) pairs(since int32, f func(a, b int32) bool) {
	k.keys = k.keys[:0]
	k.g.Each(func(i, j int32, cost float64) {
		a, b := k.p.label[i], k.p.label[j]
		if a != b && cost != 0 && max(k.p.changed[a], k.p.changed[b]) >= since {
			k.keys = append(k.keys, pairKey(a, b))
		}
	})
	slices.Sort(k.keys)
	for _, key := range slices.Compact(k.keys) {
		if !f(int32(key>>32), int32(key&0xffffffff)) {
			return
		}
	}
}

func (k *klSparse) exchange(a, b int32, least float64, complete bool) float64 {
	join := k.enter(a, b)
	total, most, kept := 0.0, 0.0, 0
	patience := klPatience(len(k.p.groups[a])+len(k.p.groups[b]), complete)
	for len(k.heap.item) > 0 && len(k.chain)-kept < patience {
		v := k.heap.pop()
		total += k.gain[v]
		k.state[v] = klMoved
		k.chain = append(k.chain, v)
		if total > most {
			most, kept = total, len(k.chain)
		}
		k.advance(v, a, b)
	}
	for _, v := range k.seen {
		k.state[v] = klUnseen
	}
	k.seen = k.seen[:0]
	k.heap.clear()
	switch {
	case len(k.p.groups[b]) > 0 && join > most && join > least:
		if len(k.p.groups[a]) < len(k.p.groups[b]) {
			a, b = b, a
		}
		for len(k.p.groups[b]) > 0 {
			group := k.p.groups[b]
			k.move(group[len(group)-1], b, a)
		}
		return join
	case most > least:
		for _, v := range k.chain[:kept] {
			if k.p.label[v] == a {
				k.move(v, a, b)
			} else {
				k.move(v, b, a)
			}
		}
		return most
	}
	return 0
}

// see begins the bookkeeping of a node in the exchange at hand.
func (k *klSparse) see(v int32) {
	if k.state[v] == klUnseen {
		k.state[v], k.gain[v], k.near[v] = klSeen, -k.p.own[v], 0
		k.seen = append(k.seen, v)
	}
}

// enter takes two clusters in hand and returns the cost between them.
func (k *klSparse) enter(a, b int32) (join float64) {
	k.chain = k.chain[:0]
	if len(k.p.groups[b]) == 0 {
		best := k.p.groups[a][0]
		for _, v := range k.p.groups[a] {
			if o := k.p.own[v]; o < k.p.own[best] || o == k.p.own[best] && v < best {
				best = v
			}
		}
		k.see(best)
		k.heap.push(best)
		return 0
	}
	if len(k.p.groups[a]) > len(k.p.groups[b]) {
		a, b = b, a
	}
	for _, v := range k.p.groups[a] {
		to, cost := k.g.Neighbors(v)
		for e, u := range to {
			if w := cost[e]; k.p.label[u] == b && w != 0 {
				k.see(v)
				k.see(u)
				k.gain[v] += w
				k.gain[u] += w
				k.near[v]++
				k.near[u]++
				join += w
			}
		}
	}
	for _, v := range k.seen {
		k.heap.push(v)
	}
	return join
}

// advance tells the neighbors of v, which has moved, about it.
func (k *klSparse) advance(v, a, b int32) {
	from := k.p.label[v]
	to, cost := k.g.Neighbors(v)
	for e, u := range to {
		w, side := cost[e], k.p.label[u]
		if side != a && side != b || k.state[u] == klMoved || w == 0 {
			continue
		}
		k.see(u)
		if side == from {
			k.gain[u] += 2 * w
			k.near[u]++
		} else {
			k.gain[u] -= 2 * w
			k.near[u]--
		}
		if k.near[u] == 0 {
			k.heap.remove(u)
		} else {
			k.heap.fix(u)
		}
	}
}

func (k *klSparse) move(v, from, to int32) {
	own := 0.0
	neighbors, cost := k.g.Neighbors(v)
	for e, u := range neighbors {
		switch w := cost[e]; k.p.label[u] {
		case from:
			k.p.own[u] -= w
		case to:
			k.p.own[u] += w
			own += w
		}
	}
	k.p.own[v] = own
	k.p.move(v, to)
}

func (k *klSparse) disconnect(since, round int32) {
	p := k.p
	var stack []int32
	for a := range int32(len(p.groups)) {
		if p.changed[a] < since || len(p.groups[a]) < 2 {
			continue
		}
		// A node is seen where its component has been found. The first component
		// keeps the number; nodes of the others leave the group.
		found := 0
		nodes := slices.Clone(p.groups[a])
		slices.Sort(nodes)
		for _, v := range nodes {
			if k.state[v] == klSeen {
				continue
			}
			into := a
			if found++; found > 1 {
				into = p.empty()
				p.touch(into, round)
				p.touch(a, round)
			}
			k.state[v] = klSeen
			stack = append(stack[:0], v)
			for len(stack) > 0 {
				v := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				to, cost := k.g.Neighbors(v)
				for e, u := range to {
					if p.label[u] == a && cost[e] != 0 && k.state[u] == klUnseen {
						k.state[u] = klSeen
						stack = append(stack, u)
					}
				}
				if into != a {
					p.move(v, into)
				}
			}
		}
		for _, v := range nodes {
			k.state[v] = klUnseen
		}
	}
}
