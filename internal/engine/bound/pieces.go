package bound

import (
	"math"

	"tercet/internal/par"
)

// relu is max(x, 0), which is monotone: its ends are those of x.
type relu struct{}

func (relu) apply(in []*Box, out *Box, _ int) {
	c, r := in[0].C.Data, in[0].R.Data
	par.For(len(c), chunk, func(first, end int) {
		for i := first; i < end; i++ {
			switch v, w := c[i], r[i]; {
			case v >= w: // not below 0
				out.C.Data[i], out.R.Data[i] = v, w
			case -v >= w:
				out.C.Data[i], out.R.Data[i] = 0, 0
			default:
				out.set(i, 0, float64(v)+float64(w))
			}
		}
	})
}

// window is pooling of rectangles: their maximum, or the mean over all pixels.
type window struct {
	h, w, c        int
	kh, kw, sh, sw int
	ph, pw         int
	oh, ow         int
	mean           bool
}

func (l *window) apply(in []*Box, out *Box, rows int) {
	par.For(rows*l.oh, 1, func(first, end int) {
		for line := first; line < end; line++ {
			i, y := line/l.oh, line%l.oh
			for x := range l.ow {
				for k := range l.c {
					l.one(in[0], i, y, x, k, out, (line*l.ow+x)*l.c+k)
				}
			}
		}
	})
}

// one bounds a window of image i at (y, x), channel k.
func (l *window) one(in *Box, i, y, x, k int, out *Box, to int) {
	lo, hi := math.Inf(-1), math.Inf(-1)
	var low, high, size float64
	for a := max(0, y*l.sh-l.ph); a < min(l.h, y*l.sh-l.ph+l.kh); a++ {
		for b := max(0, x*l.sw-l.pw); b < min(l.w, x*l.sw-l.pw+l.kw); b++ {
			at := ((i*l.h+a)*l.w+b)*l.c + k
			c, r := float64(in.C.Data[at]), float64(in.R.Data[at])
			lo, hi = max(lo, c-r), max(hi, c+r)
			low, high, size = low+c-r, high+c+r, size+math.Abs(c)+r
		}
	}
	if l.mean {
		n := float64(l.kh * l.kw)
		lost := Gamma(l.kh*l.kw) * size / n
		lo, hi = low/n-lost, high/n+lost
	}
	out.set(to, lo, hi)
}

// sum adds two inputs.
type sum struct{}

func (sum) apply(in []*Box, out *Box, _ int) {
	a, b := in[0], in[1]
	par.For(len(a.C.Data), chunk, func(first, end int) {
		for i := first; i < end; i++ {
			c := float64(a.C.Data[i]) + float64(b.C.Data[i])
			r := float64(a.R.Data[i]) + float64(b.R.Data[i])
			out.C.Data[i] = float32(c)
			out.R.Data[i] = up(r + float64(4*unit*(math.Abs(c)+r)))
		}
	})
}

// frame surrounds images (h, w, c) with zeros.
type frame struct{ h, w, c, top, left, oh, ow int }

func (l *frame) apply(in []*Box, out *Box, rows int) {
	out.C.Zero()
	out.R.Zero()
	for i := range rows * l.h {
		img, y := i/l.h, i%l.h
		from, to := i*l.w*l.c, ((img*l.oh+l.top+y)*l.ow+l.left)*l.c
		copy(out.C.Data[to:to+l.w*l.c], in[0].C.Data[from:])
		copy(out.R.Data[to:to+l.w*l.c], in[0].R.Data[from:])
	}
}

// same passes its input on: the shape changes, the numbers do not.
type same struct{}

func (same) apply(in []*Box, out *Box, _ int) {
	copy(out.C.Data, in[0].C.Data)
	copy(out.R.Data, in[0].R.Data)
}
