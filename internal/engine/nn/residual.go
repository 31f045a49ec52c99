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
	body, shortcut Layer // shortcut nil: the identity
	y, dx          *array.Array
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
	return l.built(in, out)
}

// Forward adds the branches.
func (l *Residual) Forward(x *array.Array, mode Mode) *array.Array {
	l.n = l.check(x)
	a, b := l.body.Forward(x, mode), x
	if l.shortcut != nil {
		b = l.shortcut.Forward(x, mode)
	}
	y := rowsOf(&l.y, l.n, l.out)
	kernel.Add(a.Data, b.Data, y.Data)
	return y
}

// Backward sends dy through both branches and adds what comes out.
func (l *Residual) Backward(dy *array.Array, need Need) *array.Array {
	l.checkGrad(dy, l.n)
	a, b := l.body.Backward(dy, need), dy
	if l.shortcut != nil {
		b = l.shortcut.Backward(dy, need)
	}
	if need&Input == 0 {
		return nil
	}
	dx := rowsOf(&l.dx, l.n, l.in)
	kernel.Add(a.Data, b.Data, dx.Data)
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
