package multicut

// keyHeap is a binary heap of numbers (nodes, edges) by their keys, largest first, equal
// keys by number, that knows where each is.
type keyHeap struct {
	key       []float64 // of each number
	item      []int32
	place     []int32 // of each number, -1 where it is not in the heap
	magnitude bool    // keys are ordered by their magnitude, positive ones first
}

// newKeyHeap returns an empty heap with room for most of the numbers that have keys.
func newKeyHeap(key []float64, most int) keyHeap {
	h := keyHeap{key: key, item: make([]int32, 0, most), place: make([]int32, len(key))}
	for v := range h.place {
		h.place[v] = -1
	}
	return h
}

func (h *keyHeap) before(v, u int32) bool {
	x, y := h.key[v], h.key[u]
	if h.magnitude {
		if a, b := max(x, -x), max(y, -y); a != b {
			return a > b
		}
	}
	return x > y || x == y && v < u
}

func (h *keyHeap) push(v int32) {
	h.item = append(h.item, v)
	h.up(len(h.item)-1, v)
}

func (h *keyHeap) pop() int32 {
	v := h.item[0]
	h.remove(v)
	return v
}

func (h *keyHeap) remove(v int32) {
	at := h.place[v]
	if at < 0 {
		return
	}
	last := len(h.item) - 1
	u := h.item[last]
	h.item = h.item[:last]
	h.place[v] = -1
	if u != v {
		h.item[at], h.place[u] = u, at
		h.fix(u)
	}
}

func (h *keyHeap) clear() {
	for _, v := range h.item {
		h.place[v] = -1
	}
	h.item = h.item[:0]
}

// fix restores the order after the key of v has changed, and enters v if it is not there.
func (h *keyHeap) fix(v int32) {
	if h.place[v] < 0 {
		h.push(v)
		return
	}
	at := int(h.place[v])
	if at > 0 && h.before(v, h.item[(at-1)/2]) {
		h.up(at, v)
		return
	}
	for {
		down := 2*at + 1
		if down >= len(h.item) {
			break
		}
		if down+1 < len(h.item) && h.before(h.item[down+1], h.item[down]) {
			down++
		}
		if !h.before(h.item[down], v) {
			break
		}
		h.item[at] = h.item[down]
		h.place[h.item[at]] = int32(at)
		at = down
	}
	h.item[at], h.place[v] = v, int32(at)
}

// up moves v from the place at towards the top.
func (h *keyHeap) up(at int, v int32) {
	for at > 0 && h.before(v, h.item[(at-1)/2]) {
		h.item[at] = h.item[(at-1)/2]
		h.place[h.item[at]] = int32(at)
		at = (at - 1) / 2
	}
	h.item[at], h.place[v] = v, int32(at)
}
