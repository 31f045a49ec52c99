package nn

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
)

// MaxPool takes the maximum of each window and channel. Of equal values the
// first wins, and gets the gradient. Windows that do not fit are dropped.
type MaxPool struct {
	base
	pool  kernel.Pool
	mask  bool // Backward drops dy where y is not positive: see fuse
	arg   []int32
	x     *array.Array
	y, dx *array.Array

	norm *BatchNorm2D // two layers before, where it does the pooling: see pools
	won  *array.Array // its inputs at arg
}

// NewMaxPool returns k x k pooling. The padding must be at most k/2, as in
// PyTorch; padded places never win.
func NewMaxPool(name string, k, stride, pad int) *MaxPool {
	return NewMaxPoolRect(name, k, k, stride, stride, pad, pad)
}

// NewMaxPoolRect is NewMaxPool with separate heights and widths.
func NewMaxPoolRect(name string, kh, kw, strideH, strideW, padH, padW int) *MaxPool {
	return &MaxPool{base: base{name: name}, pool: kernel.Pool{
		KH: kh, KW: kw, StrideH: strideH, StrideW: strideW, PadH: padH, PadW: padW}}
}

// OutShape checks that the windows fit.
func (l *MaxPool) OutShape(in []int) ([]int, error) { return l.buildPool(&l.pool, in) }

// buildGlobal is buildPool of one window as large as the image; rows have shape (C).
func (b *base) buildGlobal(p *kernel.Pool, in []int) ([]int, error) {
	h, w, c, err := b.image(in)
	if err != nil {
		return nil, err
	}
	p.KH, p.KW = h, w
	if _, err := b.buildPool(p, in); err != nil {
		return nil, err
	}
	return b.built(in, []int{c})
}

// buildPool sets p's image and records the shapes.
func (b *base) buildPool(p *kernel.Pool, in []int) ([]int, error) {
	var err error
	if p.H, p.W, p.C, err = b.image(in); err != nil {
		return nil, err
	}
	if err := checkWindow(b.name, "window", p.H, p.W, p.KH, p.KW, p.StrideH, p.StrideW, p.PadH, p.PadW); err != nil {
		return nil, err
	}
	if 2*p.PadH > p.KH || 2*p.PadW > p.KW {
		return nil, fmt.Errorf("%s: padding %dx%d is more than half of the window %dx%d", b.name, p.PadH, p.PadW, p.KH, p.KW)
	}
	if _, err := sizeOf(b.name+": input", in...); err != nil { // offsets are int32
		return nil, err
	}
	oh, ow := p.Out()
	return b.built(in, []int{oh, ow, p.C})
}

// Forward takes the maxima and remembers where they were.
func (l *MaxPool) Forward(x *array.Array, mode Mode) *array.Array { return forward(l, x, mode) }

// rowwise is false where a batch norm before does the pooling.
func (l *MaxPool) rowwise(mode Mode) bool { return l.norm == nil || l.norm.rowwise(mode) }

func (l *MaxPool) begin(x *array.Array, _ Mode) *array.Array {
	n := l.check(x)
	if l.x = x; l.norm.pools() {
		return l.y
	}
	return l.prepare(n)
}

func (l *MaxPool) forwardRows(lo, hi int) {
	if !l.norm.pools() {
		out := size(l.out)
		l.pool.MaxForward(hi-lo, rows(l.x, lo, hi), rows(l.y, lo, hi), l.arg[lo*out:hi*out])
	}
}

// prepare makes room for n images.
func (l *MaxPool) prepare(n int) *array.Array {
	y := rowsOf(&l.y, n, l.out)
	if cap(l.arg) < len(y.Data) {
		l.arg = pages.Make[int32](len(y.Data))
	}
	l.arg = l.arg[:len(y.Data)]
	return y
}

// Backward gives each dy to its window's winner.
func (l *MaxPool) Backward(dy *array.Array, need Need) *array.Array {
	n := l.y.Rows()
	l.checkGrad(dy, n)
	if l.norm.pools() {
		return dy
	}
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, n, l.in)
	l.backwardRows(0, n, dy.Data, dx.Data)
	return dx
}

func (l *MaxPool) idle() bool { return false }

func (l *MaxPool) backwardRows(lo, hi int, dy, dx []float32) {
	var mask []float32
	if l.mask {
		mask = rows(l.y, lo, hi)
	}
	out := size(l.out)
	l.pool.MaxBackward(hi-lo, dy, mask, l.arg[lo*out:hi*out], dx)
}

// AvgPool takes the mean of each window and channel; padded places count as
// zeros (PyTorch's default). Windows that do not fit are dropped.
type AvgPool struct {
	base
	pool   kernel.Pool
	global bool
	n      int
	y, dx  *array.Array
}

// NewGlobalAvgPool returns the mean over all pixels: rows of shape (C).
func NewGlobalAvgPool(name string) *AvgPool {
	return &AvgPool{base: base{name: name}, pool: kernel.Pool{StrideH: 1, StrideW: 1}, global: true}
}

// OutShape checks that the windows fit.
func (l *AvgPool) OutShape(in []int) ([]int, error) {
	if !l.global {
		return l.buildPool(&l.pool, in)
	}
	return l.buildGlobal(&l.pool, in)
}

// Forward takes the means.
func (l *AvgPool) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	l.pool.AvgForward(l.n, x.Data, y.Data)
	return y
}

// Backward spreads each dy evenly over its window.
func (l *AvgPool) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, l.n, l.in)
	l.pool.AvgBackward(l.n, dy.Data, dx.Data)
	return dx
}

// GlobalMaxPool is the maximum over all pixels, or that plus the mean over them: rows
// of shape (C). Of equal values the first wins, and gets the gradient.
type GlobalMaxPool struct {
	base
	pool  kernel.Pool
	mean  bool
	n     int
	arg   []int32
	means *array.Array
	y, dx *array.Array
	rest  *array.Array // gradient of the means
}

// NewGlobalPool returns the pooling of that name: avg, max, or avg+max, their sum.
func NewGlobalPool(name string) Layer {
	if name == "avg" {
		return NewGlobalAvgPool("avgpool")
	}
	return &GlobalMaxPool{base: base{name: "pool"}, pool: kernel.Pool{StrideH: 1, StrideW: 1}, mean: name == "avg+max"}
}

// OutShape returns the channels of images of shape in.
func (l *GlobalMaxPool) OutShape(in []int) ([]int, error) {
	return l.buildGlobal(&l.pool, in)
}

// Forward pools.
func (l *GlobalMaxPool) Forward(x *array.Array, _ Mode) *array.Array {
	l.n = l.check(x)
	y := rowsOf(&l.y, l.n, l.out)
	if cap(l.arg) < len(y.Data) {
		l.arg = pages.Make[int32](len(y.Data))
	}
	l.arg = l.arg[:len(y.Data)]
	l.pool.MaxForward(l.n, x.Data, y.Data, l.arg)
	if l.mean {
		means := rowsOf(&l.means, l.n, l.out)
		l.pool.AvgForward(l.n, x.Data, means.Data)
		kernel.Add(y.Data, means.Data, y.Data)
	}
	return y
}

// Backward gives each dy to its winner, and spreads it evenly where the mean counts.
func (l *GlobalMaxPool) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	if need&Input == 0 {
		return nil
	}
	dx := l.grads.lend(&l.dx, l.n, l.in)
	l.pool.MaxBackward(l.n, dy.Data, nil, l.arg, dx.Data)
	if l.mean {
		rest := l.grads.lend(&l.rest, l.n, l.in)
		l.pool.AvgBackward(l.n, dy.Data, rest.Data)
		kernel.Add(dx.Data, rest.Data, dx.Data)
		l.grads.put(rest)
	}
	return dx
}
