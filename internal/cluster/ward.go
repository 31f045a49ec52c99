package cluster

import (
	"context"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/par"
)

// ward is Ward's linkage by the clusters' means. Like matrix it keeps of each cluster
// the nearest one and a bound for all others; distances are squared,
// 2ab/(a+b) ||mean - mean||^2.
type ward struct {
	d      int
	mean   []float64 // (slots, d)
	single []float32 // the same in float32
	square []float64 // of the rows of single
	size   []float64
	of     []int32
	active []int32
	next   []int32
	least  []float64
	bound  []float64
	moved  []int32

	unit  float64   // error of a product of float32 as a share of the squares
	dots  []float32 // products of the one searched for with active slots
	i     int32     // that one
	own   wardScratch
	spare par.Free[wardScratch]

	packed kernel.PackedRows // of single, in rounds
}

// wardScratch belongs to one task while it runs.
type wardScratch struct {
	x     []float32 // (wardRows, d)
	dots  []float32 // (wardRows, active slots), filled up
	close []wardCandidate
}

// wardCandidate is a slot that may be nearest, and a bound of its distance.
type wardCandidate struct {
	slot int32
	low  float64
}

func newWard(ctx context.Context, x []float32, data *centered) (*ward, error) {
	n, d := data.n, data.d
	w := &ward{d: d, mean: make([]float64, n*d), single: append([]float32(nil), data.x...), square: make([]float64, n), size: make([]float64, n),
		of: make([]int32, n), active: make([]int32, n), next: make([]int32, n), least: make([]float64, n), bound: make([]float64, n),
		moved: make([]int32, n), dots: make([]float32, n), unit: kernel.DotError(d) + 16*0x1p-24}
	for i, v := range x {
		w.mean[i] = (float64(v) - data.mean[i%d]) * data.scale
	}
	for i := range int32(n) {
		w.square[i] = kernel.SumSquares(data.row(int(i)))
		w.size[i], w.of[i], w.active[i], w.next[i] = 1, i, i, -1
	}
	if n < 2 {
		return w, nil
	}
	const k = 2
	near, err := metric.Neighbors(ctx, x, n, d, metric.NeighborOptions{K: min(k, n-1)})
	if err != nil {
		return nil, err
	}
	for i := range n {
		at := i * near.K
		w.next[i], w.least[i], w.bound[i] = near.Index[at], w.distance(int32(i), near.Index[at]), math.Inf(1)
		if near.K == k {
			w.bound[i] = w.distance(int32(i), near.Index[at+1])
		}
	}
	return w, nil
}

func (w *ward) first() int32      { return w.active[0] }
func (w *ward) row(i int32) int32 { return w.of[i] }

// factor is what the squared distance of the means of two clusters counts for.
func (w *ward) factor(i, j int32) float64 { return 2 * w.size[i] * w.size[j] / (w.size[i] + w.size[j]) }

// distance is that of two clusters, squared, in float64.
func (w *ward) distance(i, j int32) float64 {
	d := w.d
	a, b := w.mean[int(i)*d:(int(i)+1)*d], w.mean[int(j)*d:(int(j)+1)*d]
	var s float64
	for t, v := range a {
		e := v - b[t]
		s += float64(e * e)
	}
	return w.factor(i, j) * s
}

func (w *ward) nearest(i, prefer int32) (int32, float64) {
	if w.next[i] < 0 {
		w.search(i)
	}
	if prefer >= 0 && w.distance(i, prefer) <= w.least[i] {
		return prefer, math.Sqrt(w.least[i])
	}
	return w.next[i], math.Sqrt(w.least[i])
}

// wardChunk is the number of clusters measured at a time.
const wardChunk = 1024

// search finds the cluster nearest to i.
func (w *ward) search(i int32) {
	w.i = i
	par.Do(len(w.active), wardChunk, w)
	w.choose(i, w.dots, &w.own)
}

// Run fills dots for active slots [lo, hi).
func (w *ward) Run(lo, hi int) {
	d, i := w.d, w.i
	x := w.single[int(i)*d : (int(i)+1)*d]
	for at := lo; at < hi; at++ {
		j := w.active[at]
		w.dots[at] = kernel.Dot32(x, w.single[int(j)*d:(int(j)+1)*d])
	}
}

// choose finds the cluster nearest to i, and the distance of the next one, from its
// products with active slots: what these leave within their error is measured in
// float64.
func (w *ward) choose(i int32, dots []float32, s *wardScratch) {
	s.close = s.close[:0]
	own := w.square[i]
	inf := math.Inf(1)
	least, second := inf, inf // of the upper bounds
	// The smallest factor, that of a single row, tells of most that they are too far.
	single := 2 * w.size[i] / (w.size[i] + 1)
	for at, j := range w.active {
		sum := own + w.square[j]
		low := sum - float64(2*float64(dots[at])) - float64(w.unit*sum)
		if single*low > second || j == i {
			continue
		}
		f := w.factor(i, j)
		if low = float64(low * f); low > second {
			continue
		}
		s.close = append(s.close, wardCandidate{j, low})
		// What low took off to be on the safe side is given back twice.
		switch high := low + float64(2*w.unit*sum*f); {
		case high < least:
			least, second = high, least
		case high < second:
			second = high
		}
	}
	w.next[i], w.least[i], w.bound[i] = -1, inf, inf
	for _, c := range s.close {
		if c.low > second {
			continue
		}
		switch v := w.distance(i, c.slot); {
		case v < w.least[i]:
			w.next[i], w.least[i], w.bound[i] = c.slot, v, w.least[i]
		case v < w.bound[i]:
			w.bound[i] = v
		}
	}
}

func (w *ward) merge(a, b int32) {
	w.join(a, b)
	at := 0
	for _, x := range w.active {
		if x == a {
			continue
		}
		w.active[at] = x
		at++
		if next := w.next[x]; x != b && (next == a || next == b) {
			w.follow(x, b)
		}
	}
	w.active = w.active[:at]
}

// join puts the rows of slot a into slot b.
func (w *ward) join(a, b int32) {
	d := w.d
	sa, sb := w.size[a], w.size[b]
	from, to := w.mean[int(a)*d:(int(a)+1)*d], w.mean[int(b)*d:(int(b)+1)*d]
	single := w.single[int(b)*d : (int(b)+1)*d]
	for t, v := range from {
		to[t] = (float64(sa*v) + float64(sb*to[t])) / (sa + sb)
		single[t] = float32(to[t])
	}
	w.size[b] += sa
	w.square[b] = kernel.SumSquares(single)
	w.next[b] = -1
}

// follow tells x that its nearest is now part of b.
func (w *ward) follow(x, b int32) {
	if v := w.distance(x, b); v <= w.bound[x] {
		w.next[x], w.least[x] = b, v
	} else {
		w.next[x] = -1
	}
}

// compact moves the means together once half of the slots are free.
func (w *ward) compact() []int32 {
	if 2*len(w.active) > len(w.moved) || len(w.active) < 2 {
		return nil
	}
	return w.pack()
}

// pack moves the means together and returns the new number of each slot.
func (w *ward) pack() []int32 {
	d := w.d
	for i := range w.moved {
		w.moved[i] = -1
	}
	for to, from := range w.active {
		w.moved[from] = int32(to)
	}
	for i, from := range w.active {
		f := int(from)
		copy(w.mean[i*d:(i+1)*d], w.mean[f*d:(f+1)*d])
		copy(w.single[i*d:(i+1)*d], w.single[f*d:(f+1)*d])
		w.square[i], w.size[i], w.of[i], w.least[i], w.bound[i] = w.square[f], w.size[f], w.of[f], w.least[f], w.bound[f]
		if w.next[i] = w.next[f]; w.next[i] >= 0 {
			w.next[i] = w.moved[w.next[i]]
		}
		w.active[i] = int32(i)
	}
	moved := w.moved
	w.moved = moved[:len(w.active)]
	return moved
}
