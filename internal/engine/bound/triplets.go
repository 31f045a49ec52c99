package bound

import (
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

// Triplets bounds a triplet loss from above: the mean over triplets (a, p, n) of max(0, margin + d_p^2 - d_n^2) at
// the worst image of each anchor, with the embeddings z of p and n fixed:
//
//	d_n^2 - d_p^2 = 2 (<u, z_p - z_n> - (|z_p|^2 - |z_n|^2) / 2)
//
// for the output u = W h + b of the network. With v = z_p - z_n the product is
// <W v, h> + <v, b>, and least where h takes the end of its interval that the sign of W v
// says: the last layer and the difference are one ("elided specification", Gowal et al.,
// 2018, section 3). Where embeddings have length 1, u is divided by its length at the
// middle of the intervals, so that the scale of u makes no difference.
type Triplets struct {
	Head       Linear
	Normalized bool // embeddings have length 1
	Margin     float64

	z         *array.Array // (B, D)
	ts        []loss.Triplet
	b, k, d   int
	seen      []float32 // (B, K) W z
	mid, half []float32 // (B, K) of the intervals
	u, du     []float32 // (B, D) at the middles
	length    []float64 // (B) of u
	offset    []float64 // (B) <z, b> - |z|^2 / 2
	slope     []float64 // (T) by the least product
	by        []float64 // (T) by the length
	value     []float64 // (T)
	dmid, dr  []float32
	dseen     []float32
	ends      *array.Array // (2B, K) their gradient
}

// Eval returns the mean for the ends h (2B, K) of the intervals that the head reads.
func (w *Triplets) Eval(h, z *array.Array, ts []loss.Triplet) float64 {
	w.z, w.ts, w.b, w.d, w.k = z, ts, z.Rows(), z.Cols(), h.Cols()
	weights := w.Head.W.Value.Data
	w.seen = grow(w.seen, w.b*w.k)
	kernel.Gemm(false, true, w.b, w.k, w.d, 1, z.Data, w.d, weights, w.d, 0, w.seen, w.k)
	w.mid, w.half = grow(w.mid, w.b*w.k), grow(w.half, w.b*w.k)
	par.For(w.b*w.k, 1<<13, func(from, to int) {
		for i := from; i < to; i++ {
			lo, hi := h.Data[i], h.Data[w.b*w.k+i]
			w.mid[i], w.half[i] = (lo+hi)/2, (hi-lo)/2
		}
	})
	w.offset, w.length = grow(w.offset, w.b), grow(w.length, w.b)
	var bias []float32
	if w.Head.Bias != nil {
		bias = w.Head.Bias.Value.Data
	}
	if w.Normalized {
		w.u = grow(w.u, w.b*w.d)
		kernel.GemmBias(false, false, w.b, w.d, w.k, w.mid, w.k, weights, w.d, bias, false, w.u, w.d)
	}
	for i := range w.b {
		w.offset[i], w.length[i] = 0, 1
		if bias != nil {
			w.offset[i] = kernel.Dot(z.Row(i), bias)
		}
		if w.Normalized {
			w.length[i] = max(math.Sqrt(kernel.SumSquares(w.u[i*w.d:(i+1)*w.d])), 1e-12)
		} else {
			w.offset[i] -= float64(kernel.SumSquares(z.Row(i)) / 2)
		}
	}
	return w.triplets()
}

// triplets is the mean, with its slopes by each product and length.
func (w *Triplets) triplets() float64 {
	w.value, w.slope, w.by = grow(w.value, len(w.ts)), grow(w.slope, len(w.ts)), grow(w.by, len(w.ts))
	n := float64(len(w.ts))
	par.For(len(w.ts), 16, func(from, to int) {
		for i := from; i < to; i++ {
			t := w.ts[i]
			s := w.length[t.A]
			least := w.least(t) + w.offset[t.P] - w.offset[t.N]
			w.value[i], w.slope[i], w.by[i] = 0, 0, 0
			if h := w.Margin - 2*least/s; h > 0 {
				w.value[i], w.slope[i], w.by[i] = h, -2/(s*n), 2*least/(s*s*n)
			}
		}
	})
	sum := 0.0
	for _, v := range w.value {
		sum += v
	}
	return sum / max(n, 1)
}

// least is the smallest <W (z_p - z_n), h> for h in the intervals of the anchor.
func (w *Triplets) least(t loss.Triplet) float64 {
	p, n := w.row(w.seen, t.P), w.row(w.seen, t.N)
	mid, half := w.row(w.mid, t.A), w.row(w.half, t.A)
	var sum [4]float64
	for k := range p {
		a := float64(p[k]) - float64(n[k])
		sum[k%4] += float64(a*float64(mid[k])) - float64(math.Abs(a)*float64(half[k]))
	}
	return sum[0] + sum[1] + sum[2] + sum[3]
}

func (w *Triplets) row(of []float32, i int32) []float32 { return of[int(i)*w.k:][:w.k] }

// Gradient adds to the head share times the gradient of the last mean, and returns that by
// the ends of the intervals, valid until the next call.
func (w *Triplets) Gradient(share float64) *array.Array {
	n := w.b * w.k
	w.dmid, w.dr, w.dseen = grow(w.dmid, n), grow(w.dr, n), grow(w.dseen, n)
	par.For(w.k, 64, func(from, to int) { w.columns(from, to, share) })
	grad := w.Head.W.Grad.Data
	kernel.Gemm(true, false, w.k, w.d, w.b, 1, w.dseen, w.k, w.z.Data, w.d, 1, grad, w.d)
	if w.Head.Bias != nil {
		w.bias(w.Head.Bias.Grad.Data, share)
	}
	if w.Normalized {
		w.lengths(share)
	}
	if w.ends == nil || cap(w.ends.Data) < 2*n {
		w.ends = array.New(2*w.b, w.k)
	}
	w.ends.SetRows(2 * w.b)
	par.For(n, 1<<13, func(from, to int) {
		for i := from; i < to; i++ {
			c, r := w.dmid[i], w.dr[i]
			w.ends.Data[i], w.ends.Data[n+i] = (c-r)/2, (c+r)/2
		}
	})
	return w.ends
}

// columns sums the gradients of columns [from, to), triplet by triplet.
func (w *Triplets) columns(from, to int, share float64) {
	for i := range w.b {
		for _, of := range [][]float32{w.dmid, w.dr, w.dseen} {
			clear(of[i*w.k+from : i*w.k+to])
		}
	}
	for i, t := range w.ts {
		if w.slope[i] == 0 {
			continue
		}
		g := float32(share * w.slope[i])
		cut := func(of []float32, row int32) []float32 { return w.row(of, row)[from:to] }
		p, n, mid, half := cut(w.seen, t.P), cut(w.seen, t.N), cut(w.mid, t.A), cut(w.half, t.A)
		dmid, dr, dp, dn := cut(w.dmid, t.A), cut(w.dr, t.A), cut(w.dseen, t.P), cut(w.dseen, t.N)
		for k := range p {
			a := p[k] - n[k]
			r := half[k]
			switch {
			case a < 0:
				dr[k] += float32(g * a)
				r = -r
			case a > 0:
				dr[k] -= float32(g * a)
			default:
				r = 0
			}
			dmid[k] += float32(g * a)
			d := float32(g * (mid[k] - r))
			dp[k] += d
			dn[k] -= d
		}
	}
}

// bias adds the gradient by the head's bias.
func (w *Triplets) bias(to []float32, share float64) {
	for i, t := range w.ts {
		g := share * w.slope[i]
		if g == 0 {
			continue
		}
		p, n := w.z.Row(int(t.P)), w.z.Row(int(t.N))
		for k := range p {
			to[k] += float32(g * (float64(p[k]) - float64(n[k])))
		}
	}
}

// lengths adds the gradients by way of the lengths of u.
func (w *Triplets) lengths(share float64) {
	w.du = grow(w.du, w.b*w.d)
	sums := grow(w.value, w.b)
	clear(sums)
	for i, t := range w.ts {
		sums[t.A] += w.by[i]
	}
	w.value = sums
	for i := range w.b {
		g := share * sums[i] / w.length[i]
		for k, v := range w.u[i*w.d : (i+1)*w.d] {
			w.du[i*w.d+k] = float32(g * float64(v))
		}
	}
	kernel.Gemm(false, true, w.b, w.k, w.d, 1, w.du, w.d, w.Head.W.Value.Data, w.d, 1, w.dmid, w.k)
	kernel.Gemm(true, false, w.k, w.d, w.b, 1, w.mid, w.k, w.du, w.d, 1, w.Head.W.Grad.Data, w.d)
	if w.Head.Bias != nil {
		kernel.AddColumnSums(w.b, w.d, w.du, w.Head.Bias.Grad.Data)
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
