package cluster

import (
	"math"

	"tercet/internal/engine/kernel"
)

// remove returns what it costs to take centre c away.
func (s *swaps) remove(c int) float64 {
	l, d := s.l, s.l.data.d
	rows := s.rows[s.start[c]:s.start[c+1]]
	if len(rows) == 0 {
		return 0
	}
	w := s.spare.Get()
	defer s.spare.Put(w)
	if w.sum == nil {
		w.sum, w.size = make([]float64, l.k*d), make([]int, l.k)
	}
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

// split cuts cluster c in halves and returns what that gains.
func (s *swaps) split(c int) float64 {
	l, d := s.l, s.l.data.d
	rows := s.rows[s.start[c]:s.start[c+1]]
	if len(rows) < 2 {
		return 0
	}
	centre := l.centre[c*d : (c+1)*d]
	direction, next := make([]float64, d), make([]float64, d)
	far, most := rows[0], 0.
	for _, i := range rows {
		if v := l.data.dist[i]; v > most {
			far, most = i, v
		}
	}
	if most == 0 {
		return 0
	}
	for j, v := range l.data.row(int(far)) {
		direction[j] = float64(v) - centre[j]
	}
	for range swapPower {
		clear(next)
		var length float64
		for _, i := range rows {
			x := l.data.row(int(i))
			var a float64
			for j, v := range x {
				a += (float64(v) - centre[j]) * direction[j]
			}
			for j, v := range x {
				next[j] += a * (float64(v) - centre[j])
			}
		}
		for _, v := range next {
			length += v * v
		}
		if length == 0 {
			break
		}
		length = 1 / math.Sqrt(length)
		for j, v := range next {
			direction[j] = v * length
		}
	}
	var cut float64
	for j, v := range direction {
		cut += v * centre[j]
	}
	return s.two(rows, direction, cut, s.halves[c], s.sum[c*d:(c+1)*d])
}

// two runs 2-means on rows, from the cut across a direction, and returns the gain.
func (s *swaps) two(rows []int32, direction []float64, cut float64, halves, whole []float64) float64 {
	data := s.l.data
	d := data.d
	sum := make([]float64, 2*d)
	var size [2]int
	for range swapLloyd {
		clear(sum)
		size = [2]int{}
		for _, i := range rows {
			x := data.row(int(i))
			var a float64
			for j, v := range x {
				a += float64(v) * direction[j]
			}
			side := 0
			if a > cut {
				side = 1
			}
			size[side]++
			for j, v := range x {
				sum[side*d+j] += float64(v)
			}
		}
		if size[0] == 0 || size[1] == 0 {
			return 0
		}
		cut = 0
		for side := range 2 {
			data.moveCentre(halves[side*d:(side+1)*d], sum[side*d:(side+1)*d], float64(size[side]))
		}
		for j := range d {
			a, b := halves[j], halves[d+j]
			direction[j] = b - a
			cut += (b*b - a*a) / 2
		}
	}
	return data.kept(sum[:d], size[0]) + data.kept(sum[d:], size[1]) - data.kept(whole, len(rows))
}

// kept is what of the sum of squares of rows with the given sum their centre takes
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
