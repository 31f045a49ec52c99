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
	s = s[:len(s)-1]
	*h = s
	at := 0
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
	if len(s) > 0 {
		s[at] = e
	}
	return top
}
