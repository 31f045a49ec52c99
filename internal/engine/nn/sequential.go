package nn

import (
	"fmt"

	"tercet/internal/engine/array"
)

// Sequential runs layers one after another.
type Sequential struct {
	base
	layers []Layer
	first  int // index of the first layer with trained parameters
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
	for _, l := range s.layers {
		x = l.Forward(x, mode)
	}
	return x
}

// Backward runs the layers in reverse. Without Input it stops at the first layer
// that has parameters, which then computes no input gradient.
func (s *Sequential) Backward(dy *array.Array, need Need) *array.Array {
	given, stop := dy, 0
	if need&Input == 0 {
		stop = s.first
	}
	for i := len(s.layers) - 1; i >= stop; i-- {
		n := need | Input
		if i == stop {
			n = need
		}
		dx := s.layers[i].Backward(dy, n)
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
