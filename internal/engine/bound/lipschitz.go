package bound

import (
	"math"

	"tercet/internal/engine/nn"
)

// Lipschitz bounds in l2 how far features move with the pixels: the product of bounds of
// the layers' spectral norms. ReLU, padding, and pooling of windows that do not overlap
// have 1. A convolution has that of its kernel as a matrix, times the root of the number
// of windows that see a pixel, or the root of its largest sums of magnitudes by rows and by
// columns, whichever is smaller.
//
// The bound is about the float32 program. Its values are within e of the exact ones, where
// a layer with norm s adds to s e what its sums lose: gamma times | |W| |x| + |bias| |, at
// most that at the clean image plus | |W| |_2 times the way of x.
type Lipschitz struct {
	net   *Net
	norms []norms // by step
	lossy []*lossy
}

// norms are bounds of the norm of a step, and of that of its weights' magnitudes.
type norms struct{ step, abs float64 }

// Way is how far features can move from those of an image: Slope times the way of the
// pixels plus Offset, rounding included.
type Way struct{ Slope, Offset float64 }

// NewLipschitz bounds the norms of the layers of n.
func NewLipschitz(n *Net) *Lipschitz {
	l := &Lipschitz{net: n, norms: make([]norms, len(n.steps)), lossy: make([]*lossy, len(n.steps))}
	for i := range n.steps {
		s := &n.steps[i]
		switch do := s.do.(type) {
		case *product:
			l.norms[i] = norms{do.norm(do.w), do.norm(do.abs)}
			l.lossy[i] = &lossy{box: n.box(s.in[0]), product: do, out: s.size}
		case *scaling:
			most := 0.0
			for _, v := range do.scale {
				most = max(most, math.Abs(v))
			}
			l.norms[i] = norms{most, most}
		case *window:
			if do.mean {
				l.norms[i].step = 1 / math.Sqrt(float64(do.h*do.w))
			} else {
				l.norms[i].step = math.Sqrt(overlap(do.kh, do.sh) * overlap(do.kw, do.sw))
			}
		default:
			l.norms[i].step = 1
		}
	}
	return l
}

// overlap is the number of windows of size k, stride s, that see a pixel.
func overlap(k, s int) float64 { return float64((k + s - 1) / s) }

// norm bounds that of the product by w, its weights or their magnitudes.
func (p *product) norm(w []float32) float64 {
	outs := len(w) / p.ins
	n := spectral(w, p.ins, outs) * math.Sqrt(p.windows)
	if p.windows == 1 {
		return n
	}
	columns := make([]float64, outs)
	channels := make([]float64, p.channels)
	for i, v := range w {
		a := math.Abs(float64(v))
		columns[i%outs] += a
		channels[i/outs%p.channels] += a
	}
	most := func(s []float64) (m float64) {
		for _, v := range s {
			m = max(m, v)
		}
		return m
	}
	return min(n, math.Sqrt(most(columns)*most(channels))*(1+0x1p-40))
}

// At returns how far the features of a row of the last call of Features, with radius 0, can
// move.
func (l *Lipschitz) At(row int) Way {
	type reach struct{ slope, p, q float64 } // errors are p + q eps
	at := make([]reach, len(l.net.steps))
	of := func(i int) reach {
		if i == nn.Images {
			return reach{slope: 1}
		}
		return at[i]
	}
	const more = 1 + 0x1p-40
	for i := range l.net.steps {
		s, n := &l.net.steps[i], l.norms[i]
		in := of(s.in[0])
		lost, size := 0.0, 0.0
		switch do := s.do.(type) {
		case *product:
			l.lossy[i].measure(row)
			lost, size = do.gamma, lengthOf(l.lossy[i].m)
		case *scaling:
			lost, size = Gamma(0), do.size(l.net.box(s.in[0]), row)
		case *window:
			if do.mean {
				lost, size, n.abs = Gamma(do.kh*do.kw), l.net.box(s.in[0]).length(row), n.step
			}
		case sum:
			other := of(s.in[1])
			in = reach{in.slope + other.slope, in.p + other.p, in.q + other.q}
			lost, size, n.abs = 4*unit, l.net.box(s.in[0]).length(row)+l.net.box(s.in[1]).length(row), 1
		}
		at[i] = reach{
			slope: more * n.step * in.slope,
			p:     more * (float64(n.step*in.p) + float64(lost*(size+float64(2*n.abs*in.p)))),
			q:     more * (float64(n.step*in.q) + float64(lost*n.abs*(in.slope+float64(2*in.q)))),
		}
	}
	end := of(l.net.features)
	return Way{Slope: more * (end.slope + end.q), Offset: more * 2 * end.p}
}

func lengthOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum) * (1 + 0x1p-40)
}

// length is the largest length of a row.
func (b *Box) length(row int) float64 {
	sum := 0.0
	for k, c := range b.C.Row(row) {
		v := math.Abs(float64(c)) + float64(b.R.Row(row)[k])
		sum += float64(v * v)
	}
	return math.Sqrt(sum) * (1 + 0x1p-40)
}

// size is the length of what a scaling adds up, in magnitudes.
func (l *scaling) size(b *Box, row int) float64 {
	n := len(l.mean)
	out := make([]float64, b.C.Cols())
	for k := range out {
		i := k % n
		if l.reverse {
			i = n - 1 - i
		}
		out[k] = float64(math.Abs(l.scale[i])*(math.Abs(float64(b.C.Row(row)[k]))+float64(b.R.Row(row)[k])+math.Abs(l.mean[i]))) + math.Abs(l.shift[i])
	}
	return lengthOf(out)
}
