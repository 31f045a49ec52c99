package multicut

import (
	"tercet/internal/par"
	"tercet/internal/rng"
)

// klDense exchanges nodes of a complete graph. Its chains continue where one of the two
// clusters has run empty: they may join two and part them otherwise.
type klDense[T float32 | float64] struct {
	n    int
	cost []T // (n, n)
	p    *klClusters

	// Of the two clusters at hand, the nodes that are left to move in front:
	node  []int32
	side  []float64 // 1 in the first cluster, -1 in the second
	gain  []float64 // of moving the node to the other side
	cross []float64 // sum of the node's costs with the other cluster
	chain []int32   // nodes that have moved, in order
}

func newKLDense[T float32 | float64](n int, cost []T, p *klClusters) *klDense[T] {
	k := &klDense[T]{n: n, cost: cost, p: p}
	par.Each(n, 16, func(v int) {
		row := k.row(int32(v))
		for _, u := range p.groups[p.label[v]] {
			p.own[v] += float64(row[u])
		}
	})
	return k
}

func (k *klDense[T]) row(v int32) []T { return k.cost[int(v)*k.n:][:k.n] }

func (k *klDense[T]) magnitude() float64 {
	sums := make([]float64, k.n)
	par.Each(k.n, 16, func(v int) {
		for _, w := range k.row(int32(v)) {
			sums[v] += float64(max(w, -w))
		}
	})
	most := 0.0
	for _, s := range sums {
		most = max(most, s)
	}
	return most
}

func (k *klDense[T]) neighbor(_ int32, r *rng.Stream) int32 { return int32(r.IntN(k.n)) }

func (k *klDense[T]) disconnect(_, _ int32) {}

func (k *klDense[T]) pairs(since int32, f func(a, b int32) bool) {
	clusters := int32(len(k.p.groups))
	for a := range clusters {
		if len(k.p.groups[a]) == 0 {
			continue
		}
		for b := a + 1; b < clusters; b++ {
			if len(k.p.groups[b]) > 0 && max(k.p.changed[a], k.p.changed[b]) >= since && !f(a, b) {
				return
			}
		}
	}
}

func (k *klDense[T]) exchange(a, b int32, least float64, complete bool) float64 {
	join := k.enter(a, b)
	total, most, kept := 0.0, 0.0, 0
	next := 0
	for p, g := range k.gain {
		if g > k.gain[next] {
			next = p
		}
	}
	patience := klPatience(len(k.node), complete)
	for left := len(k.node); left > 0 && len(k.chain)-kept < patience; {
		total += k.gain[next]
		k.chain = append(k.chain, k.node[next])
		if total > most {
			most, kept = total, len(k.chain)
		}
		left--
		next = k.advance(next, left)
	}
	switch {
	case len(k.p.groups[b]) > 0 && join > most && join > least:
		k.join(a, b)
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

// enter takes two clusters in hand and returns the cost between them.
func (k *klDense[T]) enter(a, b int32) (join float64) {
	first, second := k.p.groups[a], k.p.groups[b]
	m := len(first) + len(second)
	if cap(k.node) < m {
		k.node, k.side, k.gain, k.cross = make([]int32, m+m/4), make([]float64, m+m/4), make([]float64, m+m/4), make([]float64, m+m/4)
	}
	k.node, k.side, k.gain, k.cross, k.chain = k.node[:m], k.side[:m], k.gain[:m], k.cross[:m], k.chain[:0]
	copy(k.node, first)
	copy(k.node[len(first):], second)
	clear(k.cross)
	back := k.cross[len(first):][:len(second)]
	for p, v := range first {
		row := k.row(v)
		sum := 0.0
		for q, u := range second {
			w := float64(row[u])
			sum += w
			back[q] += w
		}
		k.cross[p] = sum
		join += sum
	}
	for p, v := range k.node {
		k.gain[p], k.side[p] = k.cross[p]-k.p.own[v], 1
		if p >= len(first) {
			k.side[p] = -1
		}
	}
	return join
}

// advance takes the node at place p out, puts the last one there and returns the
// place of the best gain among the left ones.
func (k *klDense[T]) advance(p, left int) (best int) {
	row := k.row(k.node[p])
	twice := 2 * k.side[p]
	k.node[p], k.side[p], k.gain[p] = k.node[left], k.side[left], k.gain[left]
	node, side, gain := k.node[:left], k.side[:left], k.gain[:left]
	if left == 0 {
		return 0
	}
	most := gain[0] + float64(twice*side[0]*float64(row[node[0]]))
	for q, u := range node {
		g := gain[q] + float64(twice*side[q]*float64(row[u]))
		gain[q] = g
		if g > most {
			best, most = q, g
		}
	}
	return best
}

// join moves all nodes of the smaller cluster to the other.
func (k *klDense[T]) join(a, b int32) {
	// The order in hand is lost: sums across are found by the groups.
	for p, v := range k.p.groups[a] {
		k.p.own[v] += k.cross[p]
	}
	for p, v := range k.p.groups[b] {
		k.p.own[v] += k.cross[len(k.p.groups[a])+p]
	}
	if len(k.p.groups[a]) < len(k.p.groups[b]) {
		a, b = b, a
	}
	for len(k.p.groups[b]) > 0 {
		k.p.move(k.p.groups[b][0], a)
	}
}

func (k *klDense[T]) move(v, from, to int32) {
	row := k.row(v)
	for _, u := range k.p.groups[from] {
		k.p.own[u] -= float64(row[u])
	}
	own := 0.0
	for _, u := range k.p.groups[to] {
		w := float64(row[u])
		own += w
		k.p.own[u] += w
	}
	k.p.own[v] = own
	k.p.move(v, to)
}
