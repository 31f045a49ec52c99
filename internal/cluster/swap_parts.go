package cluster

import (
	"math"

	"tercet/internal/engine/kernel"
)

// swapScratch belongs to one task while it runs.
type swapScratch struct {
	// Of the rows of a cluster that is taken away, by their second nearest center.
	sum  []float64 // (k, d)
	size []int
	met  []int // those centers

	sample          []int32   // of the rows of a cluster that is split
	direction, next []float32 // (d)
	halves          []float64 // (2d): sums of the halves of a cluster
}

func (w *swapScratch) grow(k, d int) {
	if w.sum == nil {
		w.sum, w.size = make([]float64, k*d), make([]int, k)
		w.direction, w.next, w.halves = make([]float32, d), make([]float32, d), make([]float64, 2*d)
	}
}

// remove returns what it costs to take center c away.
func (s *swaps) remove(c int) float64 {
	l, d := s.l, s.l.data.d
	rows := s.rows[s.start[c]:s.start[c+1]]
	if len(rows) == 0 {
		return 0
	}
	w := s.spare.Get()
	defer s.spare.Put(w)
	w.grow(l.k, d)
	w.met = w.met[:0]
	for _, i := range rows {
		to := int(s.second[i])
		if w.size[to] == 0 {
			w.met = append(w.met, to)
		}
		w.size[to]++
		kernel.AddRow(w.sum[to*d:(to+1)*d], l.data.row(int(i)))
	}
	cost := l.data.kept(s.sum[c*d:(c+1)*d], len(rows))
	for _, to := range w.met {
		sum, before := w.sum[to*d:(to+1)*d], s.sum[to*d:(to+1)*d]
		cost += l.data.kept(before, l.size[to])
		for j, v := range before {
			sum[j] += v
		}
		cost -= l.data.kept(sum, w.size[to]+l.size[to])
		clear(sum)
		w.size[to] = 0
	}
	return cost
}

// total sums the rows of cluster c.
func (s *swaps) total(c int) {
	d := s.l.data.d
	sum := s.sum[c*d : (c+1)*d]
	clear(sum)
	for _, i := range s.rows[s.start[c]:s.start[c+1]] {
		kernel.AddRow(sum, s.l.data.row(int(i)))
	}
}

// split cuts cluster c in halves and returns what that gains. A sample of its rows, and
// products of float32, choose where; what is gained is that of all rows, in float64.
func (s *swaps) split(c int) float64 {
	l, d := s.l, s.l.data.d
	rows := s.rows[s.start[c]:s.start[c+1]]
	if len(rows) < 2 {
		return 0
	}
	w := s.spare.Get()
	defer s.spare.Put(w)
	w.grow(l.k, d)
	w.sample = w.sample[:0]
	for i := 0; i < len(rows); i += ceilDiv(len(rows), swapSample) {
		w.sample = append(w.sample, rows[i])
	}
	far, most := rows[0], 0.
	for _, i := range w.sample {
		if v := l.exact(int(i), c); v > most {
			far, most = i, v
		}
	}
	if most == 0 {
		return 0
	}
	center := l.center[c*d : (c+1)*d]
	for j, v := range l.data.row(int(far)) {
		w.direction[j] = float32(float64(v) - center[j])
	}
	for range swapPower {
		cut := float32(w.along(center))
		clear(w.next)
		var sum float64
		for _, i := range w.sample {
			x := l.data.row(int(i))
			a := kernel.Dot32(x, w.direction) - cut
			sum += float64(a)
			kernel.Axpy(a, x, w.next)
		}
		for j, v := range center {
			w.next[j] -= float32(sum * v)
		}
		length := math.Sqrt(kernel.SumSquares(w.next))
		if !(length > 0) {
			break
		}
		kernel.Scale(float32(1/length), w.next)
		w.direction, w.next = w.next, w.direction
	}
	return s.two(rows, w, w.along(center), s.halves[c], s.sum[c*d:(c+1)*d])
}

// along is the product of the direction with a point.
func (w *swapScratch) along(point []float64) (s float64) {
	for j, v := range w.direction {
		s += float64(float64(v) * point[j])
	}
	return s
}

// two runs 2-means, from the cut across the direction, and returns the gain.
func (s *swaps) two(rows []int32, w *swapScratch, cut float64, halves, whole []float64) float64 {
	data := s.l.data
	d := data.d
	sum := w.halves
	var size [2]int
	all := rows
	for step := range swapLloyd {
		if rows = w.sample; step == swapLloyd-1 {
			rows = all
		}
		clear(sum)
		size = [2]int{}
		for _, i := range rows {
			x := data.row(int(i))
			side := 0
			if float64(kernel.Dot32(x, w.direction)) > cut {
				side = 1
			}
			size[side]++
			kernel.AddRow(sum[side*d:(side+1)*d], x)
		}
		if size[0] == 0 || size[1] == 0 {
			return 0
		}
		cut = 0
		for side := range 2 {
			data.moveCenter(halves[side*d:(side+1)*d], sum[side*d:(side+1)*d], float64(size[side]))
		}
		for j := range d {
			a, b := halves[j], halves[d+j]
			w.direction[j] = float32(b - a)
			cut += float64((float64(b*b) - float64(a*a)) / 2)
		}
	}
	return data.kept(sum[:d], size[0]) + data.kept(sum[d:], size[1]) - data.kept(whole, len(all))
}

// kept is what of the sum of squares of rows with the given sum their center takes
// away.
func (f *frame) kept(sum []float64, size int) float64 {
	if size == 0 {
		return 0
	}
	if f.unit {
		return 2 * math.Sqrt(squareOf(sum))
	}
	return squareOf(sum) / float64(size)
}
