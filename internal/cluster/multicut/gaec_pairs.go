package multicut

import "math/bits"

// pairTable finds the edge between two clusters: open addressing with linear probing.
// It holds numbers of edges alone, whose ends are the keys: an edge's ends may change
// only while it is not in the table.
type pairTable struct {
	ends [][2]int32 // of each edge: its clusters
	edge []int32    // noEdge where free
}

const noEdge = int32(-1)

// init makes room for the edges whose ends are given: at most two thirds are taken.
func (t *pairTable) init(ends [][2]int32) {
	t.ends, t.edge = ends, make([]int32, len(ends)+len(ends)/2+2)
	for i := range t.edge {
		t.edge[i] = noEdge
	}
}

func pairKey(a, b int32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// home returns the slot from which a key is searched.
func (t *pairTable) home(key uint64) int {
	at, _ := bits.Mul64(key*0x9e3779b97f4a7c15, uint64(len(t.edge)))
	return int(at)
}

// after returns the slot behind one.
func (t *pairTable) after(at int) int {
	if at++; at < len(t.edge) {
		return at
	}
	return 0
}

// from counts the slots from one to another.
func (t *pairTable) from(home, at int) int {
	if at -= home; at >= 0 {
		return at
	}
	return at + len(t.edge)
}

// key returns that of an edge.
func (t *pairTable) key(edge int32) uint64 {
	ends := &t.ends[edge]
	return pairKey(ends[0], ends[1])
}

// slot returns where the key is or would go.
func (t *pairTable) slot(key uint64) int {
	at := t.home(key)
	for e := t.edge[at]; e != noEdge && t.key(e) != key; e = t.edge[at] {
		at = t.after(at)
	}
	return at
}

func (t *pairTable) get(a, b int32) (edge int32, ok bool) {
	edge = t.edge[t.slot(pairKey(a, b))]
	return edge, edge != noEdge
}

// put enters an edge whose clusters have none.
func (t *pairTable) put(edge int32) { t.edge[t.slot(t.key(edge))] = edge }

// remove deletes an edge that is there and moves later ones up, so that none is
// behind a gap.
func (t *pairTable) remove(edge int32) {
	gap := t.slot(t.key(edge))
	for at := t.after(gap); t.edge[at] != noEdge; at = t.after(at) {
		if home := t.home(t.key(t.edge[at])); t.from(home, at) >= t.from(gap, at) {
			t.edge[gap] = t.edge[at]
			gap = at
		}
	}
	t.edge[gap] = noEdge
}
