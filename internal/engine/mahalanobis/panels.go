package mahalanobis

import "slices"

// mostPanels is how many panels the numbers of an anchor may span; beyond, its
// triplets are summed one by one.
const mostPanels = 1 << 14

// panels are numbers sorted into the panels of the line, with the sums of their T_n.
type panels struct {
	number []int32   // of each panel in use, ascending
	moment []basis   // of each: sum of T_n over its numbers, of which T_0 counts them
	sum    []float64 // of each: sum of its numbers, less base
	out    []basis   // of each: coefficients of a sum over the other side
	slot   []int32   // of each number: its panel in use
	place  []float64 // of each number: where in the panel, in [-1, 1]
	used   []int32   // of all panels of the line
}

// fill sorts x + shift, all at or above base, into panels that begin at base.
func (s *panels) fill(x []float64, shift, base float64) {
	s.slot, s.place = slices.Grow(s.slot[:0], len(x))[:len(x)], slices.Grow(s.place[:0], len(x))[:len(x)]
	last := int32(0)
	for i, v := range x {
		v = (v + shift - base) / width
		k := int32(v)
		s.slot[i], s.place[i] = k, 2*(v-float64(k))-1
		last = max(last, k)
	}
	s.used = slices.Grow(s.used[:0], int(last)+1)[:last+1]
	clear(s.used)
	for _, k := range s.slot {
		s.used[k] = 1
	}
	s.number = s.number[:0]
	for k, u := range s.used {
		if u > 0 {
			s.used[k] = int32(len(s.number))
			s.number = append(s.number, int32(k))
		}
	}
	n := len(s.number)
	s.moment, s.sum, s.out = slices.Grow(s.moment[:0], n)[:n], slices.Grow(s.sum[:0], n)[:n], slices.Grow(s.out[:0], n)[:n]
	clear(s.moment)
	clear(s.out)
	var b basis
	for i, k := range s.slot {
		k = s.used[k]
		s.slot[i] = k
		chebyshev(s.place[i], &b)
		m := &s.moment[k]
		for n, v := range b {
			m[n] += v
		}
	}
	for k, m := range s.moment {
		s.sum[k] = width * (float64(m[0]*(float64(s.number[k])+0.5)) + float64(m[1]/2))
	}
}

// gather adds to each number's place in to the value of its panel's out there.
func (s *panels) gather(to []float64) {
	var b basis
	for i, k := range s.slot {
		chebyshev(s.place[i], &b)
		o := &s.out[k]
		// Two sums do not wait for each other.
		even, odd := o[0], o[1]*b[1]
		for n := 2; n+1 < order; n += 2 {
			even += float64(o[n] * b[n])
			odd += float64(o[n+1] * b[n+1])
		}
		to[i] += even + float64(o[order-1]*b[order-1]) + odd
	}
}
