package factored

import (
	"slices"

	"tercet/internal/engine/kernel"
)

// state is a clustering of a Factored graph with the sums of its clusters.
// Costs are in the graph's own unit, with t in place of tau^2 and y of x.
type state struct {
	f      *Graph
	labels []int32   // (n) each node's cluster
	size   []int     // (k) 0: unused
	sum    []float64 // (k, d) of y
	square []float64 // (k) sum of |y|^2
	free   []int32   // unused clusters

	renumbered func(to []int32, k int) // where set, is told of each cluster's new number and how many there are
	fresh      []uint8                 // (k) since when each has changed: unsplit, unpaired
}

// A cluster that changes becomes a candidate for these again.
const (
	unsplit  = 1 << iota // being divided
	unpaired             // exchanging nodes with others
	unseen               // taking single nodes from others
	fresh    = unsplit | unpaired | unseen
)

func newState(f *Graph) *state {
	return &state{f: f, labels: make([]int32, f.n)}
}

// set takes over labels, any numbers, and forms all sums afresh. Clusters are
// numbered by their first node.
func (s *state) set(labels []int32) {
	number, sizes := number(labels)
	copy(s.labels, number)
	s.reset(len(sizes))
}

// settle marks those clusters as unchanged that are clusters of settled, too.
func (s *state) settle(settled []int32) {
	number, sizes := number(settled)
	first := make([]int32, len(s.size))
	for c := range first {
		first[c] = -1
	}
	for i, l := range s.labels {
		if first[l] < 0 {
			first[l] = number[i]
			if s.size[l] == sizes[number[i]] {
				s.fresh[l] = unseen
			}
		} else if first[l] != number[i] {
			s.fresh[l] = fresh
		}
	}
}

// reset forms the sums of k clusters from the labels.
func (s *state) reset(k int) {
	d := s.f.d
	s.size = zero(s.size, k)
	s.sum = zero(s.sum, k*d)
	s.square = zero(s.square, k)
	s.fresh = zero(s.fresh, k)
	s.free = s.free[:0]
	for i, l := range s.labels {
		s.size[l]++
		s.square[l] += s.f.square[i]
		kernel.AddRow(s.of(l), s.f.row(int32(i)))
	}
	for c := range s.fresh {
		s.fresh[c] = fresh
	}
}

// zero returns n zeros, in the memory of old where that is enough.
func zero[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

func (s *state) of(c int32) []float64 { return s.sum[int(c)*s.f.d : (int(c)+1)*s.f.d] }

// pack renumbers the clusters so that none is unused, in their order, and returns
// their number.
func (s *state) pack() int {
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
func (s *state) add() int32 {
	for m := len(s.free); m > 0; m-- {
		c := s.free[m-1]
		s.free = s.free[:m-1]
		if s.size[c] == 0 { // else nodes came back into it
			s.fresh[c] = fresh
			return c
		}
	}
	c := int32(len(s.size))
	s.size = append(s.size, 0)
	s.square = append(s.square, 0)
	s.fresh = append(s.fresh, fresh)
	s.sum = slices.Grow(s.sum, s.f.d)[:len(s.sum)+s.f.d]
	clear(s.of(c))
	return c
}

// score returns the sum of the costs of node v with all nodes of c, where v counts
// as a node at distance 0 to itself: what v costs with c if it is not in it, and t
// more than that if it is.
func (s *state) score(v, c int32) float64 {
	q := s.f.square[v]
	return float64(float64(s.size[c])*(s.f.t-q)) - s.square[c] + float64(2*dot(s.f.row(v), s.of(c)))
}

// own returns the sum of the costs of node v with the others of its cluster.
func (s *state) own(v int32) float64 { return s.score(v, s.labels[v]) - s.f.t }

// between returns the sum of the costs between two clusters: what joining them gains.
func (s *state) between(a, b int32) float64 {
	na, nb := float64(s.size[a]), float64(s.size[b])
	sa, sb := s.of(a), s.of(b)
	dot := 0.0
	for j, v := range sa {
		dot += float64(v * sb[j])
	}
	return float64(na*nb*s.f.t) - float64(nb*s.square[a]) - float64(na*s.square[b]) + float64(2*dot)
}

// move puts node v into cluster c. An emptied cluster becomes free.
func (s *state) move(v, c int32) {
	from := s.labels[v]
	row, q := s.f.row(v), s.f.square[v]
	kernel.SubtractRow(s.of(from), row)
	kernel.AddRow(s.of(c), row)
	s.square[from] -= q
	s.square[c] += q
	s.size[from]--
	s.size[c]++
	s.labels[v] = c
	s.fresh[from], s.fresh[c] = fresh, fresh
	if s.size[from] == 0 {
		s.release(from)
	}
}

// release frees an empty cluster; its sums become exactly 0.
func (s *state) release(c int32) {
	clear(s.of(c))
	s.square[c] = 0
	s.free = append(s.free, c)
}

// dot is the inner product in float64, in four interleaved sums.
func dot(x []float32, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(float64(x[i]) * y[i])
		b += float64(float64(x[i+1]) * y[i+1])
		c += float64(float64(x[i+2]) * y[i+2])
		d += float64(float64(x[i+3]) * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(float64(x[i]) * y[i])
	}
	return a + b + (c + d)
}
