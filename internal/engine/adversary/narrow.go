package adversary

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// narrowing crafts the triplets of a batch as PGD.Run does, but leaves out of the
// following passes those that have reached their destination: their gradient is 0,
// so that their images stay, and with them their hardness. In Eval mode a row's
// embedding does not depend on the others; the result is the same.
type narrowing struct {
	left  []int32      // the triplets still worked on, ascending
	x, x0 *array.Array // (3 len(left), ...) their images, where some are left out
	reporting
}

// worthwhile reports whether going from n to m triplets is worth the copies.
func worthwhile(n, m int) bool { return n-m >= max(1, n/16) }

// run crafts out (3n, ...) from clean (3n, ...), rows as towards has them.
func (w *narrowing) run(p *PGD, model nn.Embedder, clean *array.Array, ids []uint64, goal *towards, seed uint64, out *array.Array) (record.Cost, error) {
	var cost record.Cost
	w.crafted = Crafted{}
	if err := p.check(clean, ids, out); err != nil {
		return cost, err
	}
	model, err := p.embedder(model)
	if err != nil {
		return cost, err
	}
	c := &p.c
	c.prepare(p, clean, out, model.Dim())
	c.begin(ids, seed, 0)
	w.left = grow(w.left, len(goal.destination))
	for i := range w.left {
		w.left[i] = int32(i)
	}
	moved := 0 // input gradients that were not zero
	for t := range p.Iterations {
		clear(c.zero)
		rows := int64(c.x.Shape[0])
		z := model.Embed(c.x, p.Mode)
		goal.Step(t)
		if err := goal.Eval(z, c.per, c.dz); err != nil {
			return cost, fmt.Errorf("pgd: step %d: %w", t, err)
		}
		if err := c.checkObjective(t); err != nil {
			return cost, err
		}
		dx := model.Backward(c.dz, nn.Input)
		cost.Add(record.Cost{Forward: rows, Backward: rows})
		if err := c.advance(t, z, dx); err != nil {
			return cost, err
		}
		w.crafted.Steps++
		moved += int(rows)
		for _, n := range c.zero {
			moved -= n
		}
		if goal.Stop() || !w.shrink(c, goal, out) {
			break
		}
	}
	w.put(c.x, out)
	c.x0 = clean
	w.summarize(c, moved)
	return cost, nil
}

// summarize keeps what was done. Images left out would have had zero gradients,
// and count as such.
func (w *narrowing) summarize(c *crafting, moved int) {
	w.crafted.Radius = c.measure()
	w.crafted.ZeroGradient = 1 - float64(moved)/float64(c.out.Shape[0]*w.crafted.Steps)
}

// shrink leaves out the triplets whose objective is 0, if that is worth it, and
// reports whether any other is left.
func (w *narrowing) shrink(c *crafting, goal *towards, out *array.Array) bool {
	n, m := len(w.left), 0
	for _, v := range c.per[:n] {
		if v > 0 {
			m++
		}
	}
	if m == 0 || !worthwhile(n, m) {
		return m > 0
	}
	w.put(c.x, out)
	// Where the arrays are w's own already, rows move towards the front in them:
	// none is overwritten before it has moved.
	x, x0 := c.x.Data, c.x0.Data
	pixels := len(x) / (3 * n)
	w.x, w.x0 = fitRows(w.x, out, 3*m), fitRows(w.x0, out, 3*m)
	for role := range 3 {
		at := 0
		for i, v := range c.per[:n] {
			if v > 0 {
				to, from := (role*m+at)*pixels, (role*n+i)*pixels
				copy(w.x.Data[to:to+pixels], x[from:from+pixels])
				copy(w.x0.Data[to:to+pixels], x0[from:from+pixels])
				at++
			}
		}
	}
	at := 0
	for i, v := range c.per[:n] {
		if v > 0 {
			w.left[at], goal.destination[at] = w.left[i], goal.destination[i]
			at++
		}
	}
	w.left, goal.destination = w.left[:m], goal.destination[:m]
	c.x, c.x0 = w.x, w.x0
	c.dz.SetRows(3 * m)
	c.per, c.bad, c.zero = c.per[:3*m], c.bad[:3*m], c.zero[:3*m]
	return true
}

// put writes the images worked on to their rows of out.
func (w *narrowing) put(x, out *array.Array) {
	if x == out {
		return
	}
	m, n := len(w.left), out.Shape[0]/3
	pixels := len(out.Data) / (3 * n)
	for role := range 3 {
		for i, r := range w.left {
			copy(out.Data[(role*n+int(r))*pixels:][:pixels], x.Data[(role*m+i)*pixels:][:pixels])
		}
	}
}
