package nn

import (
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Sequential runs layers one after another.
type Sequential struct {
	base
	layers []Layer
	first  int         // index of the first layer with trained parameters
	chains [2][]*chain // in modes other than Eval, and in Eval: see rowwise
	used   []*chain    // of the last Forward
}

// NewSequential returns the chain of layers. Build it with OutShape.
func NewSequential(name string, layers ...Layer) *Sequential {
	return &Sequential{base: base{name: name}, layers: layers}
}

// OutShape builds all layers in order; its error names the one that does not fit.
func (s *Sequential) OutShape(in []int) ([]int, error) {
	if len(s.layers) == 0 {
		return nil, fmt.Errorf("%s: no layers", s.name)
	}
	shape, err := in, error(nil)
	for _, l := range s.layers {
		if shape, err = l.OutShape(shape); err != nil {
			return nil, err
		}
	}
	s.first = s.firstTrained()
	fuse(s.layers)
	s.chains = [2][]*chain{chainsIn(s.layers, Train), chainsIn(s.layers, Eval)}
	return s.built(in, shape)
}

// firstTrained returns the index of the first layer with trained parameters.
func (s *Sequential) firstTrained() int {
	for i, l := range s.layers {
		if CountParams(l.Params()) > 0 {
			return i
		}
	}
	return len(s.layers)
}

// Forward runs the layers.
func (s *Sequential) Forward(x *array.Array, mode Mode) *array.Array {
	if s.used = s.chains[0]; mode == Eval {
		s.used = s.chains[1]
	}
	for i := 0; i < len(s.layers); i++ {
		if c := s.chain(func(c *chain) bool { return c.at == i }); c != nil {
			x, i = c.forward(x, mode), c.to-1
		} else {
			x = s.layers[i].Forward(x, mode)
		}
	}
	return x
}

// chain returns the one of the chains in use that is meant, or nil.
func (s *Sequential) chain(meant func(*chain) bool) *chain {
	if i := slices.IndexFunc(s.used, meant); i >= 0 {
		return s.used[i]
	}
	return nil
}

// Backward runs the layers in reverse. Without Input it stops at the first layer
// that has parameters, which then computes no input gradient.
func (s *Sequential) Backward(dy *array.Array, need Need) *array.Array {
	given, stop := dy, 0
	if need&Input == 0 {
		stop = s.first
	}
	for i := len(s.layers) - 1; i >= stop; i-- {
		c := s.chain(func(c *chain) bool { return c.to == i+1 && c.parts() })
		if c != nil {
			i = max(c.at, stop)
		}
		n := need | Input
		if i == stop {
			n = need
		}
		var dx *array.Array
		if c != nil {
			dx = c.backward(s.grads, dy, n, i)
		} else {
			dx = s.layers[i].Backward(dy, n)
		}
		if !shares(dy, given) && !shares(dy, dx) {
			s.grads.put(dy)
		}
		dy = dx
	}
	if need&Input == 0 {
		return nil
	}
	return dy
}

// Params returns the layers' parameters in order.
func (s *Sequential) Params() []*Param {
	var ps []*Param
	for _, l := range s.layers {
		ps = append(ps, l.Params()...)
	}
	return ps
}

// Layers returns the layers in order.
func (s *Sequential) Layers() []Layer { return s.layers }

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
