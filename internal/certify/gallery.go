package certify

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/worst"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
)

const (
	unit   = 0x1p-24 // of float32
	unit64 = 0x1p-52 // of float64, doubled
)

// rows are a gallery as the last linear layer sees it. With u = W h + b, the product
// <u, g> is <W^T g, h> + <g, b>: bounds of differences of rows then do not add up what
// each coordinate of u may lose alone ("elision"; Gowal et al., section 3).
type rows struct {
	g       *retrieval.Gallery // whose images are the queries
	search  *worst.Search
	x       *array.Array // (N, D)
	labels  []int32      // (N)
	without []bool       // rows that are left out, nil for none
	net     *bound.Net
	seen    *array.Array // (N, K) W^T g, or the rows themselves
	offset  []float64    // (N) <g, b>
	half    []float64    // (N) |g|^2 / 2
	longest float64      // the largest |g|
	weights []float64    // (K) length of each row of W
	bias    float64      // |b|
	sums    float64      // relative error of the network's last sums
	seenErr float64      // relative error of seen
}

func newRows(g *retrieval.Gallery, s *worst.Search, net *bound.Net) *rows {
	x, labels, without := s.Rows()
	n, d := x.Rows(), x.Cols()
	r := &rows{g: g, search: s, x: x, labels: labels, without: without, net: net, seen: x, offset: make([]float64, n), half: make([]float64, n)}
	for j := range n {
		square := kernel.SumSquares(x.Row(j))
		r.half[j] = square / 2
		r.longest = max(r.longest, math.Sqrt(square)*(1+0x1p-40))
	}
	last := net.Last()
	if last == nil {
		r.weights = make([]float64, d)
		for k := range r.weights {
			r.weights[k] = 1
		}
		return r
	}
	k := len(last.W) / d
	r.seen = array.New(n, k)
	kernel.Gemm(false, true, n, k, d, 1, x.Data, d, last.W, d, 0, r.seen.Data, k)
	r.seenErr = bound.Gamma(d)
	r.sums = last.Gamma
	for i := range k {
		r.weights = append(r.weights, math.Sqrt(kernel.SumSquares(last.W[i*d:(i+1)*d]))*(1+0x1p-40))
	}
	if last.Bias != nil {
		r.bias = math.Sqrt(kernel.SumSquares(last.Bias)) * (1 + 0x1p-40)
		for j := range n {
			r.offset[j] = kernel.Dot(x.Row(j), last.Bias)
		}
	}
	return r
}

// reach is where the features of an image, and its embedding, can be.
type reach struct {
	c, r   []float64 // (K) center and radius
	ball   float64   // how far they can be from there besides, in l2
	length float64   // largest |u|
	lost   float64   // what the left side of an inequality loses to rounding
}

// reached describes row i of the box h of features and the box u of embeddings.
func (r *rows) reached(h, u *bound.Box, i int, to *reach) {
	to.c, to.r, to.ball = to.c[:0], to.r[:0], 0
	total := 0.0
	for k, v := range h.C.Row(i) {
		c, w := float64(v), float64(h.R.Row(i)[k])
		to.c, to.r = append(to.c, c), append(to.r, w)
		total += float64(r.weights[k] * (math.Abs(c) + w))
	}
	square := 0.0
	for k := range r.net.Dim {
		lo, hi := u.Bounds(i, k)
		square += max(lo*lo, hi*hi)
	}
	to.length = math.Sqrt(square) * (1 + 0x1p-40)
	// Errors of seen, of the network's last sums, and of the float64 sums here; each
	// difference of rows has a length of at most twice the longest.
	to.lost = 2 * r.longest * (float64(r.seenErr*total) + float64(r.sums*(total+r.bias)) + float64(0x1p-40*(total+r.bias)))
}

// moved adds to where features can be a ball in l2. total of reached grows by at most the
// length of the rows' lengths times it, and so does the length of u.
func (r *rows) moved(by float64, to *reach) {
	square := 0.0
	for _, w := range r.weights {
		square += float64(w * w)
	}
	more := float64(math.Sqrt(square) * by * (1 + 0x1p-40))
	to.ball = by
	to.length += more
	to.lost += float64(2 * r.longest * (r.seenErr + r.sums + 0x1p-40) * more)
}

// needs is what <u, v> has to exceed, where the difference of half squared lengths is c.
func (r *rows) needs(c float64, at *reach) float64 {
	d := float64(r.net.Dim + 16)
	if !r.net.Normalized {
		return c + at.lost + float64(d*unit64*(at.length+r.longest)*(at.length+r.longest))
	}
	// Each coordinate of z = u/|u| is rounded at most four times.
	length := max(at.length, nn.NormEps) * (1 + 0x1p-40)
	return at.lost + float64(length*(max(c, 0)+float64(8*unit*r.longest)+float64(d*unit64*(1+r.longest)*(1+r.longest))))
}
