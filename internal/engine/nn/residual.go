package nn

import (
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Residual is y = body(x) + shortcut(x).
type Residual struct {
	base
	body, shortcut Layer        // shortcut nil: the identity
	last           *BatchNorm2D // ends the body, and adds the shortcut; nil: it ends otherwise
	relu           bool         // y = max(body(x) + shortcut(x), 0): see fuse
	mask           bool         // Backward drops dy where y is not positive
	y, dx, dy      *array.Array
	n              int
}

// NewResidual returns a residual block. A nil shortcut is the identity, which
// needs a body that keeps the shape.
func NewResidual(name string, body, shortcut Layer) *Residual {
	return &Residual{base: base{name: name}, body: body, shortcut: shortcut}
}

// OutShape builds both branches and checks that their outputs agree.
func (l *Residual) OutShape(in []int) ([]int, error) {
	out, err := l.body.OutShape(in)
	if err != nil {
		return nil, err
	}
	short := in
	if l.shortcut != nil {
		if short, err = l.shortcut.OutShape(in); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(out, short) {
		return nil, fmt.Errorf("%s: the body gives rows of shape %v, the shortcut %v", l.name, out, short)
	}
	if s, ok := l.body.(*Sequential); ok {
		l.last, _ = s.layers[len(s.layers)-1].(*BatchNorm2D)
	}
	return l.built(in, out)
}

// activate makes the block end in a ReLU, whose gradient it masks or leaves to
// its neighbor.
func (l *Residual) activate(mask bool) {
	l.relu, l.mask = true, mask
	if l.last != nil {
		l.last.relu = true
	}
}

// Forward adds the branches.
func (l *Residual) Forward(x *array.Array, mode Mode) *array.Array {
	l.n = l.check(x)
	b := x
	if l.shortcut != nil {
		b = l.shortcut.Forward(x, mode)
	}
	if l.last != nil {
		l.last.add = b
		l.y = l.body.Forward(x, mode)
		l.last.add = nil
		return l.y
	}
	a := l.body.Forward(x, mode)
	y := rowsOf(&l.y, l.n, l.out)
	if l.relu {
		kernel.AddReLU(a.Data, b.Data, y.Data)
	} else {
		kernel.Add(a.Data, b.Data, y.Data)
	}
	return y
}

// Backward sends dy through both branches and adds what comes out.
func (l *Residual) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	d := dy
	if l.mask {
		if d = dy; !l.grads.writable(dy) {
			d = l.grads.lend(&l.dy, l.n, l.out)
		}
		kernel.ReLUBackward(l.y.Data, dy.Data, d.Data)
	}
	l.grads.hold(d, true) // both branches read it
	a, b := l.body.Backward(d, need), d
	if l.shortcut != nil {
		b = l.shortcut.Backward(d, need)
	}
	l.grads.hold(d, false)
	var dx *array.Array
	if need&Input != 0 {
		if dx = a; !l.grads.writable(a) {
			dx = l.grads.lend(&l.dx, l.n, l.in)
		}
		kernel.Add(a.Data, b.Data, dx.Data)
	}
	for _, used := range []*array.Array{a, b, d} {
		if !shares(used, dx) && !shares(used, dy) {
			l.grads.put(used)
		}
	}
	return dx
}

// Params returns the body's parameters, then the shortcut's.
func (l *Residual) Params() []*Param {
	ps := l.body.Params()
	if l.shortcut != nil {
		ps = append(slices.Clone(ps), l.shortcut.Params()...)
	}
	return ps
}

// Layers returns the branches.
func (l *Residual) Layers() []Layer {
	if l.shortcut == nil {
		return []Layer{l.body}
	}
	return []Layer{l.body, l.shortcut}
}
