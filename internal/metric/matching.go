package metric

import (
	"container/heap"
	"math"
)

// bestMatching returns the largest sum of cells over one-to-one maps of classes
// to clusters, some of which may stay without a partner. It is the Hungarian
// method's optimum on the zero-padded square, found by shortest augmenting paths
// (Jonker and Volgenant 1987) over the cells that are not zero: a class that
// stays alone is matched with a cell of its own, of count 0. All in integers.
func bestMatching(t *contingency) int64 { return newMatching(t).solve() }

func newMatching(t *contingency) *matching {
	m := &matching{t: t, price: make([]int64, len(t.cluster)), owner: make([]int32, len(t.cluster)),
		cost: make([]int64, len(t.cluster)), via: make([]int32, len(t.cluster)), done: make([]bool, len(t.cluster)),
		mate: make([]int32, len(t.class)), profit: make([]int64, len(t.class))}
	for k := range m.owner {
		m.owner[k], m.cost[k] = -1, math.MaxInt64
	}
	for c := range m.mate {
		m.mate[c] = -1
		for _, e := range m.row(int32(c)) {
			m.profit[c] = max(m.profit[c], e.count)
		}
	}
	return m
}

func (m *matching) solve() int64 {
	for c := range m.mate {
		m.augment(int32(c))
	}
	var sum int64
	for c, k := range m.mate {
		for _, e := range m.row(int32(c)) {
			if e.cluster == k {
				sum += e.count
			}
		}
	}
	return sum
}

// matching keeps profit[c] + price[k] >= n_ck, with equality for matched pairs,
// profit[c] >= 0 with equality for classes left alone, price[k] >= 0 with
// equality for free clusters: linear programming duality then proves the
// matching optimal.
type matching struct {
	t      *contingency
	profit []int64 // of each class
	price  []int64 // of each cluster
	owner  []int32 // cluster -> class, or -1
	mate   []int32 // class -> cluster, or -1

	cost    []int64 // of the cheapest path found to each cluster
	via     []int32 // its last class
	done    []bool
	queue   pathHeap
	touched []int32
	reached []int32 // classes on the tree, with distance in at
	at      []int64
}

func (m *matching) row(c int32) []cell { return m.t.cells[m.t.rowStart[c]:m.t.rowStart[c+1]] }

// augment matches class c by the cheapest alternating path, to a free cluster or
// to a class that is left alone instead.
func (m *matching) augment(c int32) {
	m.queue, m.touched = m.queue[:0], m.touched[:0]
	m.reached, m.at = m.reached[:0], m.at[:0]
	// A path may end by leaving class "alone" unmatched, at cost distance + profit.
	alone, least := int32(-1), int64(math.MaxInt64)
	reach := func(class int32, distance int64) {
		m.reached, m.at = append(m.reached, class), append(m.at, distance)
		if d := distance + m.profit[class]; d < least {
			alone, least = class, d
		}
		for _, e := range m.row(class) {
			k := e.cluster
			if m.done[k] {
				continue
			}
			if d := distance + m.profit[class] + m.price[k] - e.count; d < m.cost[k] {
				if m.cost[k] == math.MaxInt64 {
					m.touched = append(m.touched, k)
				}
				m.cost[k], m.via[k] = d, class
				heap.Push(&m.queue, path{d, k})
			}
		}
	}
	reach(c, 0)
	end := int32(-1) // a free cluster
	for len(m.queue) > 0 {
		p := heap.Pop(&m.queue).(path)
		if m.done[p.cluster] {
			continue
		}
		if p.cost >= least {
			break
		}
		m.done[p.cluster] = true
		if m.owner[p.cluster] < 0 {
			end, least = p.cluster, p.cost
			break
		}
		reach(m.owner[p.cluster], p.cost)
	}
	for i, class := range m.reached {
		if d := m.at[i]; d < least {
			m.profit[class] -= least - d
		}
	}
	for _, k := range m.touched {
		if m.done[k] && m.cost[k] < least {
			m.price[k] += least - m.cost[k]
		}
		m.done[k] = false
	}
	k := end
	if k < 0 { // class alone gives its cluster up
		k = m.mate[alone]
		m.mate[alone] = -1
	}
	for k >= 0 { // c, at the path's root, had none to pass on
		class := m.via[k]
		m.owner[k] = class
		k, m.mate[class] = m.mate[class], k
	}
	for _, k := range m.touched {
		m.cost[k] = math.MaxInt64
	}
}

type path struct {
	cost    int64
	cluster int32
}

type pathHeap []path

func (h pathHeap) Len() int { return len(h) }
func (h pathHeap) Less(i, j int) bool {
	return h[i].cost < h[j].cost || h[i].cost == h[j].cost && h[i].cluster < h[j].cluster
}
func (h pathHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pathHeap) Push(v any)   { *h = append(*h, v.(path)) }
func (h *pathHeap) Pop() any {
	old := *h
	v := old[len(old)-1]
	*h = old[:len(old)-1]
	return v
}
