package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/pages"
)

// gradients lends the buffers of the gradients that travel from layer to layer
// in a backward pass. Each is needed only until the layer below has made its
// own, so a few buffers serve all layers of a model.
//
// A layer never returns the gradient that it was given: who receives one from
// Backward puts it back. A nil *gradients lends nothing: the layers of a network
// that is not a Model keep their own.
type gradients struct {
	free []*array.Array
	lent []loan
}

type loan struct {
	a    *array.Array
	held bool // also needed as it is by someone else
}

// lend returns n rows of the given shape with undefined content: a buffer of g,
// or *own, the caller's, where there is no g.
func (g *gradients) lend(own **array.Array, n int, row []int) *array.Array {
	if g == nil {
		return rowsOf(own, n, row)
	}
	want := n * size(row)
	best := -1 // the smallest buffer that is large enough, or else the largest
	for i, a := range g.free {
		if best < 0 {
			best = i
			continue
		}
		have, had := cap(a.Data), cap(g.free[best].Data)
		if had < want && have > had || have >= want && have < had {
			best = i
		}
	}
	var a *array.Array
	if best >= 0 {
		a = g.free[best]
		g.free[best] = g.free[len(g.free)-1]
		g.free = g.free[:len(g.free)-1]
	} else {
		a = &array.Array{}
	}
	if cap(a.Data) < want {
		a.Data = nil // freed before the larger one is made
		a.Data = pages.Make[float32](want)
	}
	a.Data = a.Data[:want]
	a.Shape = append(append(a.Shape[:0], n), row...)
	g.lent = append(g.lent, loan{a: a})
	return a
}

// find returns the index of the loan whose storage a uses, or -1.
func (g *gradients) find(a *array.Array) int {
	if g != nil {
		for i := range g.lent {
			if shares(g.lent[i].a, a) {
				return i
			}
		}
	}
	return -1
}

// put takes back the storage of a, which may be a view or nil. Arrays that g has
// not lent are left alone.
func (g *gradients) put(a *array.Array) {
	if i := g.find(a); i >= 0 {
		g.free = append(g.free, g.lent[i].a)
		last := len(g.lent) - 1
		g.lent[i], g.lent[last] = g.lent[last], loan{}
		g.lent = g.lent[:last]
	}
}

// writable reports whether a layer may write its result over a.
func (g *gradients) writable(a *array.Array) bool {
	i := g.find(a)
	return i >= 0 && !g.lent[i].held
}

// hold keeps layers from writing over a, until hold(a, false).
func (g *gradients) hold(a *array.Array, held bool) {
	if i := g.find(a); i >= 0 {
		g.lent[i].held = held
	}
}

// shares reports whether a and b begin at the same number.
func shares(a, b *array.Array) bool {
	return a != nil && b != nil && len(a.Data) > 0 && len(b.Data) > 0 && &a.Data[0] == &b.Data[0]
}

// over returns where a layer whose gradients have the shape of its output may
// write: over dy, or to a new buffer.
func (b *base) over(dy *array.Array, own **array.Array, n int) *array.Array {
	if b.grads.writable(dy) {
		return dy
	}
	return b.grads.lend(own, n, b.in)
}

// share makes l and all layers in it borrow from g and have the shards s.
func share(l Layer, g *gradients, s *shards) {
	if c, ok := l.(container); ok {
		for _, inner := range c.Layers() {
			share(inner, g, s)
		}
	}
	if b, ok := l.(interface {
		borrow(*gradients)
		deal(*shards)
	}); ok {
		b.borrow(g)
		b.deal(s)
	}
}

func (b *base) borrow(g *gradients) { b.grads = g }

func (b *base) limit(most *budget) { b.most = most }
