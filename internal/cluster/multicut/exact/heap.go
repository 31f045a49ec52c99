package exact

// heap is a binary heap, the first by less on top.
type heap[T any] struct {
	items []T
	less  func(a, b *T) bool
}

func (h *heap[T]) push(v T) {
	h.items = append(h.items, v)
	for i := len(h.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(&h.items[i], &h.items[up]) {
			break
		}
		h.items[i], h.items[up] = h.items[up], h.items[i]
		i = up
	}
}

func (h *heap[T]) pop() T {
	top := h.items[0]
	n := len(h.items) - 1
	h.items[0] = h.items[n]
	h.items = h.items[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			return top
		}
		if down+1 < n && h.less(&h.items[down+1], &h.items[down]) {
			down++
		}
		if !h.less(&h.items[down], &h.items[i]) {
			return top
		}
		h.items[i], h.items[down] = h.items[down], h.items[i]
		i = down
	}
}
