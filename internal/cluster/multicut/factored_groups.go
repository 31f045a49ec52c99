package multicut

import (
	"slices"

	"tercet/internal/engine/kernel"
)

// factoredState is a clustering of a Factored graph with the sums of its clusters.
// Costs are in the graph's own unit, with t in place of tau^2 and y of x.
type factoredState struct {
	f      *Factored
	labels []int32   // (n) each node's cluster
	size   []int     // (k) 0: unused
	sum    []float64 // (k, d) of y
	square []float64 // (k) sum of |y|^2
	free   []int32   // unused clusters

	renumbered func(to []int32, k int) // where set, is told of each cluster's new number and how many there are
	fresh      []uint8                 // (k) since when each has changed: factoredUnsplit, factoredUnpaired
}

// A cluster that changes becomes a candidate for these again.
const (
	factoredUnsplit  = 1 << iota // being divided
	factoredUnpaired             // exchanging nodes with others
	factoredUnseen               // taking single nodes from others
	factoredFresh    = factoredUnsplit | factoredUnpaired | factoredUnseen
)

func newFactoredState(f *Factored) *factoredState {
	return &factoredState{f: f, labels: make([]int32, f.n)}
}

// set takes over labels, any numbers, and forms all sums afresh. Clusters are
// numbered by their first node.
func (s *factoredState) set(labels []int32) {
	number, sizes := factoredNumber(labels)
	copy(s.labels, number)
	s.reset(len(sizes))
}

// settle marks those clusters as unchanged that are clusters of settled, too.
func (s *factoredState) settle(settled []int32) {
	number, sizes := factoredNumber(settled)
	first := make([]int32, len(s.size))
	for c := range first {
		first[c] = -1
	}
	for i, l := range s.labels {
		if first[l] < 0 {
			first[l] = number[i]
			if s.size[l] == sizes[number[i]] {
				s.fresh[l] = factoredUnseen
			}
		} else if first[l] != number[i] {
			s.fresh[l] = factoredFresh
		}
	}
}

// reset forms the sums of k clusters from the labels.
func (s *factoredState) reset(k int) {
	d := s.f.d
	s.size = factoredZero(s.size, k)
	s.sum = factoredZero(s.sum, k*d)
	s.square = factoredZero(s.square, k)
	s.fresh = factoredZero(s.fresh, k)
	s.free = s.free[:0]
	for i, l := range s.labels {
		s.size[l]++
		s.square[l] += s.f.square[i]
		kernel.AddRow(s.of(l), s.f.row(int32(i)))
	}
	for c := range s.fresh {
		s.fresh[c] = factoredFresh
	}
}

// factoredZero returns n zeros, in the memory of old where that is enough.
func factoredZero[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

func (s *factoredState) of(c int32) []float64 { return s.sum[int(c)*s.f.d : (int(c)+1)*s.f.d] }

// pack renumbers the clusters so that none is unused, in their order, and returns
// their number.
func (s *factoredState) pack() int {
	if len(s.free) == 0 {
		return len(s.size)
	}
	d := s.f.d
	to := make([]int32, len(s.size))
	k := 0
	for c, n := range s.size {
		to[c] = int32(k)
		if n > 0 {
			s.size[k], s.square[k], s.fresh[k] = n, s.square[c], s.fresh[c]
			copy(s.sum[k*d:(k+1)*d], s.sum[c*d:(c+1)*d])
			k++
		}
	}
	for i, l := range s.labels {
		s.labels[i] = to[l]
	}
	s.size, s.sum, s.square, s.fresh, s.free = s.size[:k], s.sum[:k*d], s.square[:k], s.fresh[:k], s.free[:0]
	if s.renumbered != nil {
		s.renumbered(to, k)
	}
	return k
}

// add returns an empty cluster.
func (s *factoredState) add() int32 {
	for m := len(s.free); m > 0; m-- {
		c := s.free[m-1]
		s.free = s.free[:m-1]
		if s.size[c] == 0 { // else nodes came back into it
			s.fresh[c] = factoredFresh
			return c
		}
	}
	c := int32(len(s.size))
	s.size = append(s.size, 0)
	s.square = append(s.square, 0)
	s.fresh = append(s.fresh, factoredFresh)
	s.sum = slices.Grow(s.sum, s.f.d)[:len(s.sum)+s.f.d]
	clear(s.of(c))
	return c
}

// score returns the sum of the costs of node v with all nodes of c, where v counts
// as a node at distance 0 to itself: what v costs with c if it is not in it, and t
// more than that if it is.
func (s *factoredState) score(v, c int32) float64 {
	q := s.f.square[v]
	return float64(s.size[c])*(s.f.t-q) - s.square[c] + 2*factoredDot(s.f.row(v), s.of(c))
}

// own returns the sum of the costs of node v with the others of its cluster.
func (s *factoredState) own(v int32) float64 { return s.score(v, s.labels[v]) - s.f.t }

// between returns the sum of the costs between two clusters: what joining them gains.
func (s *factoredState) between(a, b int32) float64 {
	na, nb := float64(s.size[a]), float64(s.size[b])
	sa, sb := s.of(a), s.of(b)
	dot := 0.0
	for j, v := range sa {
		dot += v * sb[j]
	}
	return na*nb*s.f.t - nb*s.square[a] - na*s.square[b] + 2*dot
}

// move puts node v into cluster c. An emptied cluster becomes free.
func (s *factoredState) move(v, c int32) {
	from := s.labels[v]
	row, q := s.f.row(v), s.f.square[v]
	kernel.SubtractRow(s.of(from), row)
	kernel.AddRow(s.of(c), row)
	s.square[from] -= q
	s.square[c] += q
	s.size[from]--
	s.size[c]++
	s.labels[v] = c
	s.fresh[from], s.fresh[c] = factoredFresh, factoredFresh
	if s.size[from] == 0 {
		s.release(from)
	}
}

// release frees an empty cluster; its sums become exactly 0.
func (s *factoredState) release(c int32) {
	clear(s.of(c))
	s.square[c] = 0
	s.free = append(s.free, c)
}

// factoredDot is the inner product in float64, in four interleaved sums.
func factoredDot(x []float32, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i]) * y[i]
		b += float64(x[i+1]) * y[i+1]
		c += float64(x[i+2]) * y[i+2]
		d += float64(x[i+3]) * y[i+3]
	}
	for ; i < len(x); i++ {
		a += float64(x[i]) * y[i]
	}
	return a + b + (c + d)
}
