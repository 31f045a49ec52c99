package certify

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/kernel"
)

// Most wrong rows are far: that one mixture beats them follows from lengths. With a the
// difference of mixture and row, c the center and r the radius of the features,
//
//	least <a, h> >= <a, c> - |a| |r|,
//
// and products of all rows at once give <a, c> and |a|. They are float32 products, whose
// error is taken off; rows that are not far are looked at one by one.

// far knows of some queries which rows one mixture beats for certain.
type far struct {
	rows  *rows
	alone *kernel.Packed // (K, N) the rows
	x     *array.Array   // (2B, K) of each query the center, then the mixture
	out   []float32      // (2B, N) products with the rows
	norms []float64      // (N) length of each row
	gamma float64
}

func newFar(r *rows) *far {
	n, k := r.seen.Rows(), r.seen.Cols()
	f := &far{rows: r, alone: kernel.Pack(true, k, n, r.seen.Data, k), norms: make([]float64, n), gamma: bound.Gamma(k)}
	for j := range n {
		f.norms[j] = math.Sqrt(kernel.SumSquares(r.seen.Row(j))) * (1 + 0x1p-40)
	}
	return f
}

// products multiplies the rows by the centers of h and the mixtures that queries try
// first.
func (f *far) products(list []*query, ask []int, h *bound.Box) {
	n, k := f.rows.seen.Rows(), f.rows.seen.Cols()
	f.x = array.New(2*len(ask), k)
	for j, i := range ask {
		copy(f.x.Row(2*j), h.C.Row(j))
		to := f.x.Row(2*j + 1)
		q := list[i]
		for c, v := range q.mixed[q.first].seen {
			to[c] = float32(v)
		}
		q.shown = q.first
	}
	f.out = make([]float32, 2*len(ask)*n)
	f.alone.Gemm(2*len(ask), 1, f.x.Data, k, 0, f.out, n)
}

// view is far for one query.
type view struct {
	*far
	m              *mixture
	center, cross  []float32 // (N) products with the center and with the mixture
	own            float64   // of mixture and center
	length, square float64   // of the mixture
	c, r           float64   // lengths of center and radius
	at             *reach
}

func (f *far) of(q *query, j int, at *reach) view {
	n := f.rows.seen.Rows()
	v := view{far: f, m: &q.mixed[q.shown], center: f.out[2*j*n : (2*j+1)*n], cross: f.out[(2*j+1)*n : (2*j+2)*n], at: at}
	for k, a := range v.m.seen {
		v.own += float64(a * at.c[k])
		v.square += float64(a * a)
		v.c += float64(at.c[k] * at.c[k])
		v.r += float64(at.r[k] * at.r[k])
	}
	v.length, v.c, v.r = math.Sqrt(v.square), math.Sqrt(v.c)*(1+0x1p-40), float64(math.Sqrt(v.r)*(1+0x1p-40))+at.ball
	return v
}

// beats reports whether row n is so far that the mixture beats it.
func (v *view) beats(n int) bool {
	norm := v.norms[n]
	square := v.square + float64(norm*norm) - float64(2*float64(v.cross[n])) + float64(3*v.gamma*v.length*norm) + float64(0x1p-40*(v.square+float64(norm*norm)))
	low := v.own - float64(v.center[n]) - float64((float64(v.gamma*norm)+float64(0x1p-40*v.length))*v.c) - float64(math.Sqrt(max(square, 0))*v.r)
	return low+(v.m.offset-v.rows.offset[n]) > v.rows.needs(v.m.half-v.rows.half[n], v.at)
}
