package attack

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// hinged is the objective of QA, SPQA and GTT. With z a query, C its m candidates,
// P the items that it protects and X the gallery, N items,
//
//	1/(m N) sum of max(0, s (d(z, c) - d(z, x))) over c and x
//	+ xi/(|P| N) sum of max(0, d(z, p) - d(z, x)) over p and x
//
// where s is 1 for candidates that shall go up and -1 for others. The slope with
// respect to d(z, x) is a step function of it with a step at each target's
// distance, so that the sums cost one pass over the distances of all items: one
// product for those, one for the sum of the gradient's directions.
type hinged struct {
	g         *retrieval.Gallery
	up, pure  bool // pure: the mean of s d(z, c) alone
	m, shield int  // |C| and |P|
	xi        weighing
	targets   []int32 // (B, m + shield): C, then P

	// While Eval runs.
	phase  phase
	z      *array.Array
	d      *retrieval.Distances
	per    []float64
	grad   *array.Array
	direct []float64    // (B, D) parts of the gradient that weighted sums leave out
	weight []float64    // (B) sum of the weights
	factor []float64    // (B) xi
	sparse []bool       // (B) weights are mostly 0
	place  []int        // (B) row of the weighted sum in sums
	sums   *array.Array // weighted sums of items of the queries that are not sparse
}

// sparsePart is the part of the items below which those with a weight are added
// up one by one, which then is faster than a product: an attack that has nearly
// succeeded has few active hinges left.
const sparsePart = 1. / 48

type phase uint8

const (
	measuring phase = iota // distances, and what xi depends on
	weighting              // the objective and the weights of the gradient
	finishing              // the gradient
	pulling                // all of it, where pure
)

// of returns the targets of query i.
func (h *hinged) of(i int) []int32 {
	w := h.m + h.shield
	return h.targets[i*w : (i+1)*w : (i+1)*w]
}

// Eval implements adversary.Goal.
func (h *hinged) Eval(z *array.Array, per []float64, grad *array.Array) error {
	b, dim := z.Rows(), z.Cols()
	if err := h.g.CheckEmbeddings(z, len(h.targets)/(h.m+h.shield)); err != nil {
		return err
	}
	h.z, h.per, h.grad = z, per, grad
	if cap(h.weight) < b {
		h.direct, h.weight, h.factor = make([]float64, b*dim), make([]float64, b), make([]float64, b)
		h.sparse, h.place, h.sums = make([]bool, b), make([]int, b), array.New(b, dim)
	}
	h.direct, h.weight, h.factor = h.direct[:b*dim], h.weight[:b], h.factor[:b]
	if grad != nil && !h.pure {
		h.g.PrepareSums()
	}
	if h.pure {
		h.do(pulling)
	} else {
		h.d = h.g.Measure(z)
		h.do(measuring)
		if h.shield > 0 {
			h.xi.weigh(h.factor)
		}
		h.do(weighting)
		if grad != nil {
			h.add()
			h.do(finishing)
		}
		h.d.Release()
	}
	h.z, h.d, h.per, h.grad = nil, nil, nil, nil
	return nil
}

// add computes the weighted sums that are not sparse in one product. The rows of
// the product are those of any other: which queries are sparse changes no bit of
// the rest.
func (h *hinged) add() {
	rows := 0
	for i := range h.per {
		if h.sparse[i] {
			continue
		}
		if rows < i {
			copy(h.d.Row(rows), h.d.Row(i))
		}
		h.place[i] = rows
		rows++
	}
	if h.sums.SetRows(rows); rows > 0 {
		h.d.WeightedSums(h.sums)
	}
}

func (h *hinged) do(p phase) {
	h.phase = p
	par.Do(h.z.Rows(), 1, h)
}

var spareHinges par.Free[kernel.Hinges]

// Run does queries [lo, hi).
func (h *hinged) Run(lo, hi int) {
	s := spareHinges.Get()
	for i := lo; i < hi; i++ {
		switch h.phase {
		case measuring:
			h.d.Finish(i)
			// The hinges are differences from these: near ones need more digits
			// than a product has.
			for _, c := range h.of(i) {
				h.d.Row(i)[c] = float32(math.Sqrt(h.g.Squared(h.z.Row(i), int(c))))
			}
			if h.shield > 0 {
				h.factor[i] = h.protecting(i, s)
			}
		case weighting:
			h.weigh(i, s)
		case finishing:
			h.finish(i)
		case pulling:
			h.pull(i)
		}
	}
	spareHinges.Put(s)
}

// restart makes s a step function without steps; cut adds one.
func restart(s *kernel.Hinges, base float32) {
	s.Base, s.Cut, s.Add, s.Count = base, s.Cut[:0], s.Add[:0], s.Count[:0]
}

func cut(s *kernel.Hinges, at, add float32) {
	s.Cut, s.Add, s.Count = append(s.Cut, at), append(s.Add, add), append(s.Count, 0)
}

// spareRows are weights that nobody reads.
var spareRows par.Free[[]float32]

// protecting returns the second term of query i, without xi.
func (h *hinged) protecting(i int, s *kernel.Hinges) float64 {
	row := h.d.Row(i)
	restart(s, 0)
	for _, p := range h.of(i)[h.m:] {
		cut(s, row[p], -1)
	}
	w := spareRows.Get()
	if cap(*w) < len(row) {
		*w = make([]float32, len(row))
	}
	s.Row(row, (*w)[:len(row)])
	spareRows.Put(w)
	sum, _ := s.Total()
	for r, n := range s.Count {
		sum += float64(float64(n) * float64(s.Cut[r]))
	}
	return sum / float64(h.shield) / float64(len(row))
}

// weigh computes the objective of query i and, in place of its distances, the
// weights of the differences z - x in its gradient. All is multiplied by m N.
func (h *hinged) weigh(i int, s *kernel.Hinges) {
	row, z, targets := h.d.Row(i), h.z.Row(i), h.of(i)
	if h.up {
		restart(s, 0)
	} else {
		restart(s, float32(h.m))
	}
	inf := float32(math.Inf(1))
	for _, c := range targets[:h.m] {
		at := row[c]
		if !h.up {
			at = math.Nextafter32(at, inf) // an item as far as c is not farther
		}
		cut(s, at, -1)
	}
	keep := float32(0)
	if h.shield > 0 {
		keep = float32(h.factor[i] * float64(h.m) / float64(h.shield))
	}
	for _, p := range targets[h.m:] {
		cut(s, row[p], -keep)
	}
	s.Row(row, row)
	value, weight := s.Total()
	active := 0 // no more items have a weight
	direct := h.direct[i*len(z) : (i+1)*len(z)]
	clear(direct)
	for r, c := range targets {
		hits, at := int(s.Count[r]), s.Cut[r]
		if r < h.m && !h.up {
			hits, at = len(row)-hits, math.Nextafter32(at, -inf)
		}
		active += hits
		slope := float64(hits)
		switch {
		case r >= h.m:
			slope *= float64(keep)
		case !h.up:
			slope = -slope
		}
		value += float64(slope * float64(at))
		addDirection(direct, z, h.g.X.Row(int(c)), slope)
	}
	for _, j := range h.d.Coinciding(i) {
		w := float64(row[j])
		for k, v := range h.g.X.Row(int(j)) {
			direct[k] += float64(w * (float64(z[k]) - float64(v)))
		}
		weight -= w
		row[j] = 0
	}
	h.per[i], h.weight[i] = value/float64(h.m)/float64(len(row)), weight
	if h.grad == nil {
		return
	}
	if h.sparse[i] = float64(active) <= sparsePart*float64(len(row)); h.sparse[i] {
		h.g.SparseSum(row, h.grad.Row(i))
	}
}

// addDirection adds slope times the gradient of the distance of z from x, which is
// 0 where they coincide.
func addDirection(to []float64, z, x []float32, slope float64) {
	square := kernel.SquaredDistanceLanes(z, x)
	if slope == 0 || square == 0 {
		return
	}
	slope /= math.Sqrt(square)
	for k, v := range z {
		to[k] += float64(slope * (float64(v) - float64(x[k])))
	}
}

// finish computes the gradient of query i from its weighted sum of items, which,
// where sparse, is in its place.
func (h *hinged) finish(i int) {
	g, z := h.grad.Row(i), h.d.Centered(i)
	sum := g
	if !h.sparse[i] {
		sum = h.sums.Row(h.place[i])
	}
	direct := h.direct[i*len(z) : (i+1)*len(z)]
	w, scale := h.weight[i], 1/float64(h.m)/float64(h.g.Len())
	for k, v := range sum {
		g[k] = float32(scale * (float64(w*float64(z[k])) - float64(v) + direct[k]))
	}
}

// pull computes the pure objective of query i and its gradient.
func (h *hinged) pull(i int) {
	z, sign := h.z.Row(i), 1/float64(h.m)
	if !h.up {
		sign = -sign
	}
	direct := h.direct[i*len(z) : (i+1)*len(z)]
	clear(direct)
	h.per[i] = 0
	for _, c := range h.of(i) {
		x := h.g.X.Row(int(c))
		h.per[i] += float64(sign * math.Sqrt(kernel.SquaredDistanceLanes(z, x)))
		addDirection(direct, z, x, sign)
	}
	if h.grad != nil {
		g := h.grad.Row(i)
		for k, v := range direct {
			g[k] = float32(v)
		}
	}
}
