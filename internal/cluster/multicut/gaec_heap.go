package multicut

// entry is an edge in the heap.
type entry struct {
	priority float64
	edge     int32
}

// before orders entries: larger magnitudes first, positive before negative, then
// the first edge.
func before(a, b entry) bool {
	x, y := max(a.priority, -a.priority), max(b.priority, -b.priority)
	switch {
	case x != y:
		return x > y
	case a.priority != b.priority:
		return a.priority > b.priority
	}
	return a.edge < b.edge
}

// edgeHeap is a binary heap with the first entry on top.
type edgeHeap []entry

func (h *edgeHeap) push(e entry) {
	*h = append(*h, e)
	s := *h
	at := len(s) - 1
	for at > 0 {
		up := (at - 1) / 2
		if !before(e, s[up]) {
			break
		}
		s[at] = s[up]
		at = up
	}
	s[at] = e
}

func (h *edgeHeap) pop() entry {
	s := *h
	top, e := s[0], s[len(s)-1]
	*h = s[:len(s)-1]
	if len(*h) > 0 {
		h.sink(0, e)
	}
	return top
}

// order makes a heap of entries in any order.
func (h *edgeHeap) order() {
	for at := len(*h)/2 - 1; at >= 0; at-- {
		h.sink(at, (*h)[at])
	}
}

// sink puts e at the place at or below it.
func (h *edgeHeap) sink(at int, e entry) {
	s := *h
	for {
		down := 2*at + 1
		if down >= len(s) {
			break
		}
		if down+1 < len(s) && before(s[down+1], s[down]) {
			down++
		}
		if !before(s[down], e) {
			break
		}
		s[at] = s[down]
		at = down
	}
	s[at] = e
}
