package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// The maps of a batch are larger than a processor's caches, so a layer finds in main memory
// what the layer before has just written. Layers that treat each image by itself need not
// wait for the whole batch: a chain of them takes a few images through all its layers, then
// the next few. No result depends on it.

// rowwise is a layer that in some modes makes each row of its output from one row of its
// input.
type rowwise interface {
	Layer
	// rowwise reports whether it does in this mode.
	rowwise(mode Mode) bool
	// begin does what Forward does before the first row, and returns the output, which may
	// be x itself.
	begin(x *array.Array, mode Mode) *array.Array
	// forwardRows computes rows [lo, hi) of the output.
	forwardRows(lo, hi int)
	// idle reports whether Backward returns the gradient that it is given.
	idle() bool
	// backwardRows sets dx to rows [lo, hi) of the input's gradient; dy is these rows of the
	// output's. Both may be the same where they have the same size.
	backwardRows(lo, hi int, dy, dx []float32)
	checkGrad(dy *array.Array, n int)
	inShape() []int
}

// forward is Forward of a layer that is rowwise in mode.
func forward(l rowwise, x *array.Array, mode Mode) *array.Array {
	y := l.begin(x, mode)
	l.forwardRows(0, x.Rows())
	return y
}

// rows returns rows [lo, hi) of a.
func rows(a *array.Array, lo, hi int) []float32 {
	row := len(a.Data) / max(1, a.Rows())
	return a.Data[lo*row : hi*row]
}

func (b *base) inShape() []int { return b.in }

const (
	// mapsAtOnce is about how many bytes of maps each thread has at a time.
	mapsAtOnce = 4 << 20
	// mapsForWeights is how many bytes of maps there are at least for a byte of weights,
	// which are read for every few images again.
	mapsForWeights = 12
)

// chain is a part of a Sequential: layers that are all rowwise in some mode.
type chain struct {
	at, to int // their places
	layers []rowwise
	atOnce int // see mapsAtOnce
	least  int // bytes of maps that a run has at least, for its weights: see mapsForWeights
	n, run int // rows of the last Forward, and how many of them at a time
	slopes []slope
}

// slope is the gradient of a layer's input: of all rows, or of those of a run alone.
type slope struct {
	*array.Array              // nil: the layer is idle, or nobody asks
	own          *array.Array // used where a network lends none
	whole        bool
}

// chainsIn returns the chains of layers in mode.
func chainsIn(layers []Layer, mode Mode) []*chain {
	var all []*chain
	c := &chain{atOnce: mapsAtOnce}
	for i, l := range layers {
		if r, ok := l.(rowwise); ok && r.rowwise(mode) {
			c.layers, c.to = append(c.layers, r), i+1
			c.least += 4 * mapsForWeights * CountParams(l.Params())
		}
		if c.to != i+1 || c.to == len(layers) {
			if len(c.layers) > 1 {
				c.slopes = make([]slope, len(c.layers))
				all = append(all, c)
			}
			c = &chain{at: i + 1, atOnce: mapsAtOnce}
		}
	}
	return all
}

// forward runs the layers.
func (c *chain) forward(x *array.Array, mode Mode) *array.Array {
	c.n = x.Rows()
	first, maps := len(x.Data), len(x.Data)
	for _, l := range c.layers {
		y := l.begin(x, mode)
		if !shares(x, y) {
			maps += len(y.Data)
		}
		x = y
	}
	n := max(1, c.n) // no rows are no error
	c.run = c.rowsAtOnce(4*maps/n, 4*(maps-first-len(x.Data))/n)
	keepWeights(c.layers, c.parts())
	for lo := 0; lo < c.n; lo += c.run {
		for _, l := range c.layers {
			l.forwardRows(lo, min(lo+c.run, c.n))
		}
	}
	keepWeights(c.layers, false)
	return x
}

// keepWeights makes convolutions transform their weights once for all next calls, or in each.
func keepWeights(layers []rowwise, keep bool) {
	for _, l := range layers {
		if conv, ok := l.(*Conv2D); ok {
			conv.plan.KeepWeights(keep)
		}
	}
}

// rowsAtOnce returns how many of the rows go through the layers together, given the bytes of
// a row's maps, and of those between the layers. More threads take more.
func (c *chain) rowsAtOnce(maps, between int) int {
	run := par.Threads() * max(1, c.atOnce/max(1, maps))
	if c.n < 2*run || run*maps < c.least || 4*between < maps {
		return c.n
	}
	runs := (c.n + run - 1) / run
	return (c.n + runs - 1) / runs
}

// parts reports whether the last Forward took few rows at a time. If not, the Backward of
// each layer needs fewer buffers than the chain's.
func (c *chain) parts() bool { return c.run < c.n }

// backward is Backward of the layers from place stop on.
func (c *chain) backward(g *gradients, dy *array.Array, need Need, stop int) *array.Array {
	layers, slopes := c.layers[stop-c.at:], c.slopes[stop-c.at:]
	layers[len(layers)-1].checkGrad(dy, c.n)
	for _, l := range layers {
		if norm, ok := l.(*BatchNorm2D); ok {
			norm.refuse(need)
		}
	}
	c.borrow(g, need, layers, slopes)
	keepWeights(layers, true)
	for lo := 0; lo < c.n; lo += c.run {
		hi := min(lo+c.run, c.n)
		d := rows(dy, lo, hi)
		for i := len(layers) - 1; i >= 0; i-- {
			if slopes[i].Array == nil {
				continue
			}
			dx := rows(slopes[i].Array, 0, hi-lo)
			if slopes[i].whole {
				dx = rows(slopes[i].Array, lo, hi)
			}
			layers[i].backwardRows(lo, hi, d, dx)
			d = dx
		}
	}
	keepWeights(layers, false)
	d := dy
	for i := len(layers) - 1; i >= 0; i-- {
		if conv, ok := layers[i].(*Conv2D); ok && need&Weights != 0 {
			conv.backwardWeights(d.Data)
		}
		if dx := slopes[i].Array; dx != nil {
			if d != dy {
				g.put(d)
			}
			d = dx
		}
	}
	if need&Input != 0 {
		return d
	}
	if d != dy {
		g.put(d)
	}
	return nil
}

// borrow sets slopes to buffers for the gradients of the layers' inputs.
func (c *chain) borrow(g *gradients, need Need, layers []rowwise, slopes []slope) {
	whole := true // the layer below needs all rows at once, or this is the last gradient
	for i, l := range layers {
		s := &slopes[i]
		if s.Array = nil; !l.idle() && (i > 0 || need&Input != 0) {
			n := c.run
			if s.whole = whole; whole {
				n = c.n
			}
			s.Array = g.lend(&s.own, n, l.inShape())
			whole = false
		}
		if _, ok := l.(*Conv2D); ok && need&Weights != 0 {
			whole = true
		}
	}
}
