package multicut

// pairTable finds the edge between two clusters: open addressing with linear
// probing.
type pairTable struct {
	key   []uint64 // the smaller cluster in the upper half; noPair where free
	edge  []int32
	mask  uint64
	shift uint
}

const noPair = ^uint64(0)

// init makes room for m pairs.
func (t *pairTable) init(m int) {
	bits := uint(4)
	for 1<<bits < 2*m {
		bits++
	}
	t.key, t.edge = make([]uint64, 1<<bits), make([]int32, 1<<bits)
	t.mask, t.shift = 1<<bits-1, 64-bits
	for i := range t.key {
		t.key[i] = noPair
	}
}

func pairKey(a, b int32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

func (t *pairTable) home(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> t.shift }

// slot returns where the key is or would go.
func (t *pairTable) slot(key uint64) uint64 {
	at := t.home(key)
	for t.key[at] != key && t.key[at] != noPair {
		at = (at + 1) & t.mask
	}
	return at
}

func (t *pairTable) get(a, b int32) (edge int32, ok bool) {
	at := t.slot(pairKey(a, b))
	return t.edge[at], t.key[at] != noPair
}

func (t *pairTable) put(a, b, edge int32) {
	key := pairKey(a, b)
	at := t.slot(key)
	t.key[at], t.edge[at] = key, edge
}

// remove deletes a pair that is there and moves later ones up, so that none is
// behind a gap.
func (t *pairTable) remove(a, b int32) {
	gap := t.slot(pairKey(a, b))
	for at := (gap + 1) & t.mask; t.key[at] != noPair; at = (at + 1) & t.mask {
		if home := t.home(t.key[at]); (at-home)&t.mask >= (at-gap)&t.mask {
			t.key[gap], t.edge[gap] = t.key[at], t.edge[at]
			gap = at
		}
	}
	t.key[gap] = noPair
}
