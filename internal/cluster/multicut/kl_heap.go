package multicut

// klHeap is a binary heap of nodes by gain, equal gains by number, that knows where
// each node is.
type klHeap struct {
	gain  []float64
	node  []int32
	place []int32 // of each node, -1 where it is not in the heap
}

func (h *klHeap) before(v, u int32) bool {
	return h.gain[v] > h.gain[u] || h.gain[v] == h.gain[u] && v < u
}

func (h *klHeap) push(v int32) {
	h.node = append(h.node, v)
	h.up(len(h.node)-1, v)
}

func (h *klHeap) pop() int32 {
	v := h.node[0]
	h.remove(v)
	return v
}

func (h *klHeap) remove(v int32) {
	at := h.place[v]
	if at < 0 {
		return
	}
	last := len(h.node) - 1
	u := h.node[last]
	h.node = h.node[:last]
	h.place[v] = -1
	if u != v {
		h.node[at], h.place[u] = u, at
		h.fix(u)
	}
}

func (h *klHeap) clear() {
	for _, v := range h.node {
		h.place[v] = -1
	}
	h.node = h.node[:0]
}

// fix restores the order after the gain of v has changed.
func (h *klHeap) fix(v int32) {
	at := int(h.place[v])
	if at > 0 && h.before(v, h.node[(at-1)/2]) {
		h.up(at, v)
		return
	}
	for {
		down := 2*at + 1
		if down >= len(h.node) {
			break
		}
		if down+1 < len(h.node) && h.before(h.node[down+1], h.node[down]) {
			down++
		}
		if !h.before(h.node[down], v) {
			break
		}
		h.node[at] = h.node[down]
		h.place[h.node[at]] = int32(at)
		at = down
	}
	h.node[at], h.place[v] = v, int32(at)
}

// up moves v from the place at towards the top.
func (h *klHeap) up(at int, v int32) {
	for at > 0 && h.before(v, h.node[(at-1)/2]) {
		h.node[at] = h.node[(at-1)/2]
		h.place[h.node[at]] = int32(at)
		at = (at - 1) / 2
	}
	h.node[at], h.place[v] = v, int32(at)
}
