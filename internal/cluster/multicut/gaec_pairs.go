package multicut

// pairTable finds the edge between two clusters: open addressing with linear probing.
// It holds numbers of edges alone, whose ends are the keys: an edge's ends may change
// only while it is not in the table.
type pairTable struct {
	ends  [][2]int32 // of each edge: its clusters
	edge  []int32    // noEdge where free
	mask  uint64
	shift uint
}

const noEdge = int32(-1)

// init makes room for the edges whose ends are given.
func (t *pairTable) init(ends [][2]int32) {
	bits := uint(4)
	for 1<<bits < 2*len(ends) {
		bits++
	}
	t.ends, t.edge = ends, make([]int32, 1<<bits)
	t.mask, t.shift = 1<<bits-1, 64-bits
	for i := range t.edge {
		t.edge[i] = noEdge
	}
}

func pairKey(a, b int32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

func (t *pairTable) home(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> t.shift }

// key returns that of an edge.
func (t *pairTable) key(edge int32) uint64 {
	ends := &t.ends[edge]
	return pairKey(ends[0], ends[1])
}

// slot returns where the key is or would go.
func (t *pairTable) slot(key uint64) uint64 {
	at := t.home(key)
	for e := t.edge[at]; e != noEdge && t.key(e) != key; e = t.edge[at] {
		at = (at + 1) & t.mask
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
	for at := (gap + 1) & t.mask; t.edge[at] != noEdge; at = (at + 1) & t.mask {
		if home := t.home(t.key(t.edge[at])); (at-home)&t.mask >= (at-gap)&t.mask {
			t.edge[gap] = t.edge[at]
			gap = at
		}
	}
	t.edge[gap] = noEdge
}
