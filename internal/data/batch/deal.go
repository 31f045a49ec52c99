package batch

import (
	"container/heap"
	"sort"

	"tercet/internal/rng"
)

// dealSteps returns the largest T such that T batches of p different classes can
// be made when class k may be used counts[k] times: the largest T with
// sum_k min(counts[k], T) >= p*T.
func dealSteps(counts []int, p int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	// The left side minus the right is concave in T and 0 at T = 0: the T that
	// fit are an interval.
	return sort.Search(total/p, func(t int) bool {
		t++ // the first T that does not fit, less one
		sum := 0
		for _, n := range counts {
			sum += min(n, t)
		}
		return sum < p*t
	})
}

// deal returns the classes of steps batches of p different classes each, class k
// at most counts[k] times. The classes with most uses left come first, equals in
// random order: this never runs out as long as steps <= dealSteps.
func deal(counts []int, p, steps int, r *rng.Stream) []int32 {
	var h supply
	for k, n := range counts {
		if n = min(n, steps); n > 0 {
			h = append(h, hand{left: n, tie: r.Uint64(), class: int32(k)})
		}
	}
	heap.Init(&h)
	out := make([]int32, 0, p*steps)
	drawn := make([]hand, p)
	for range steps {
		for i := range drawn {
			last := len(h) - 1
			drawn[i] = h[0]
			h[0] = h[last]
			h = h[:last]
			if last > 0 {
				heap.Fix(&h, 0)
			}
			out = append(out, drawn[i].class)
		}
		for _, d := range drawn {
			if d.left--; d.left > 0 {
				d.tie = r.Uint64()
				h = append(h, d)
				heap.Fix(&h, len(h)-1)
			}
		}
	}
	return out
}

// hand is a class with the uses it has left.
type hand struct {
	left  int
	tie   uint64
	class int32
}

// supply is a heap of classes, most uses left first.
type supply []hand

func (s supply) Len() int { return len(s) }
func (s supply) Less(i, j int) bool {
	if s[i].left != s[j].left {
		return s[i].left > s[j].left
	}
	return s[i].tie < s[j].tie
}
func (s supply) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *supply) Push(x any)   { *s = append(*s, x.(hand)) }
func (s *supply) Pop() any {
	x := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return x
}
