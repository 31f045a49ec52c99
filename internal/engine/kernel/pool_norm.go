package kernel

import "tercet/internal/par"

// poolFactors are the per-channel float32 factors of Normalize and of
// NormalizeBackward for pooling.
type poolFactors struct {
	level                     Level
	mean, scale, shift, slope []float32
	vectors                   []float32 // the first kinds of them by vectors of channels, as the assembly wants them
	table                     []float32
}

var poolFactorLists par.Free[poolFactors]

func newPoolFactors(c int) *poolFactors {
	f := poolFactorLists.Get()
	f.level = Current()
	if cap(f.table) < 4*c {
		f.table = make([]float32, 4*c)
	}
	t := f.table[:4*c]
	f.mean, f.scale, f.shift, f.slope = t[:c], t[c:2*c], t[2*c:3*c], t[3*c:]
	return f
}

// arrange sets vectors: those of each kind for the first channels, then for the
// next.
func (f *poolFactors) arrange(kinds ...[]float32) {
	c, lanes := len(kinds[0]), f.level.floats()
	n := ceilDiv(c, lanes) * lanes * len(kinds)
	if cap(f.vectors) < n {
		f.vectors = make([]float32, n)
	}
	f.vectors = f.vectors[:n]
	clear(f.vectors)
	for k, kind := range kinds {
		for i := 0; i < c; i += lanes {
			copy(f.vectors[i*len(kinds)+k*lanes:], kind[i:min(i+lanes, c)])
		}
	}
}

// NormalizeMaxForward is Normalize of x (n, H, W, C) by channels, with relu or
// without, and then MaxForward: the same y and arg, bit for bit, without the
// array between. won (as y) becomes the winners' x, for NormalizeSums.
func (p *Pool) NormalizeMaxForward(n int, x []float32, mean, scale []float64, shift []float32, relu bool, y []float32, arg []int32, won []float32) {
	f := newPoolFactors(p.C)
	rounded(p.C, mean, scale, shift, f.mean, f.scale, f.shift)
	f.arrange(f.mean, f.scale, f.shift)
	p.rows(n, poolJob{x: x, y: y, arg: arg, won: won, relu: relu, factors: f, run: (*poolJob).normalizeMaxForward})
	poolFactorLists.Put(f)
}

// NormalizeMaxBackward is MaxBackward and then NormalizeBackward: it sets dx to
// scale*g - a - b*(x-mean), where g is what MaxBackward gives, up to the sign of
// zeros bit for bit, without the array between where no windows overlap. The
// sums for a and b are those of NormalizeSums for the n*OH*OW rows of won, dy
// and mask. dx may not be x.
func (p *Pool) NormalizeMaxBackward(n int, x, dy, mask []float32, arg []int32, mean, scale, a, b []float64, dx []float32) {
	if !p.apart() {
		p.MaxBackward(n, dy, mask, arg, dx)
		NormalizeBackward(n*p.H*p.W, p.C, x, dx, nil, mean, scale, a, b, dx)
		return
	}
	f := newPoolFactors(p.C)
	for c, m := range mean[:p.C] {
		f.mean[c], f.scale[c] = float32(m), float32(scale[c])
	}
	slopes(p.C, mean, a, b, f.shift, f.slope)
	f.arrange(f.mean, f.scale, f.shift, f.slope)
	p.rows(n, poolJob{x: x, dy: dy, mask: mask, dx: dx, arg: arg, factors: f, run: (*poolJob).normalizeMaxBack, rest: (*poolJob).normalizeRest})
	poolFactorLists.Put(f)
}

func (j *poolJob) normalizeMaxForward(w windows, at, end, to, till int) {
	j.level.normalizeMaxWindows(w, j.factors, j.relu, j.x[at:end], j.y[to:till], j.arg[to:till], j.won[to:till])
}

func (j *poolJob) normalizeMaxBack(w windows, at, end, to, till int) {
	j.level.normalizeMaxWindowsBack(w, j.factors, j.x[at:end], j.dy[to:till], optional(j.mask, to, till-to), j.arg[to:till], j.dx[at:end])
}

// normalizeRest does pixels without a gradient from above.
func (j *poolJob) normalizeRest(at, end int) {
	if at == end {
		return
	}
	f, dx := j.factors, j.dx[at:end]
	clear(dx)
	j.level.normalizeBack(len(dx)/j.C, j.C, j.x[at:end], dx, nil, f.mean, f.scale, f.shift, f.slope, dx)
}

func normalizeMaxWindowsGeneric(w windows, f *poolFactors, relu bool, x, y []float32, arg []int32, won []float32) {
	mean, scale, shift := f.mean[:w.c], f.scale[:w.c], f.shift[:w.c]
	for o := range w.count {
		y, arg, won := y[o*w.c:(o+1)*w.c], arg[o*w.c:(o+1)*w.c], won[o*w.c:(o+1)*w.c]
		x, first := x[o*w.next:], w.first+o*w.next
		for r := range w.kh {
			for k := range w.kw {
				off := r*w.row + k*w.c
				for c, raw := range x[off : off+w.c] {
					v := float32((raw-mean[c])*scale[c]) + shift[c]
					if relu {
						v = positive(v)
					}
					if old := y[c]; off == 0 || v > old || v != v && old == old {
						y[c], arg[c], won[c] = v, int32(first+off+c), raw
					}
				}
			}
		}
	}
}

func normalizeMaxWindowsBackGeneric(w windows, f *poolFactors, x, dy, mask []float32, arg []int32, dx []float32) {
	for o := range w.count {
		at := o * w.next
		to, end := o*w.c, (o+1)*w.c
		var m []float32
		if mask != nil {
			m = mask[to:end]
		}
		one := w
		one.count, one.first = 1, w.first+at
		maxWindowsBackGeneric(one, false, dy[to:end], m, arg[to:end], dx[at:])
		for r := range w.kh {
			from := at + r*w.row
			to := from + w.kw*w.c
			normalizeBackGeneric(w.kw, w.c, x[from:to], dx[from:to], nil, f.mean, f.scale, f.shift, f.slope, dx[from:to])
		}
	}
}
