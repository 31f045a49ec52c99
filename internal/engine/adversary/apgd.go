package adversary

import "tercet/internal/engine/array"

const (
	momentum  = 0.75 // share of the new step
	progress  = 0.75 // steps of a window that must improve for it to count
	firstStep = 2.0  // times eps
)

// autoStep is the step rule of APGD. Window lengths follow the authors' code:
// int(0.22 T) steps first, each window int(0.03 T) shorter than the one before,
// int(0.06 T) at least (each 1 at least).
type autoStep struct {
	window, shrink, shortest int
	counter                  int
	checkpoint               bool // this step closes a window

	prev      *array.Array // iterate before the current one
	moved     *array.Array // the plain step, before momentum
	bestGrad  *array.Array // gradient at the best point
	last      []float64    // objective one step earlier
	improved  []int        // improving steps of the window
	step      []float64
	reduced   []bool    // halved at the last checkpoint
	bestCheck []float64 // best objective at the last checkpoint
}

func (a *autoStep) prepare(x0 *array.Array) {
	b := x0.Shape[0]
	a.prev, a.moved, a.bestGrad = fit(a.prev, x0), fit(a.moved, x0), fit(a.bestGrad, x0)
	a.last, a.improved, a.step = grow(a.last, b), grow(a.improved, b), grow(a.step, b)
	a.reduced, a.bestCheck = grow(a.reduced, b), grow(a.bestCheck, b)
}

func (a *autoStep) begin(p *PGD) {
	t := float64(p.Iterations)
	a.window, a.shrink, a.shortest = max(int(0.22*t), 1), max(int(0.03*t), 1), max(int(0.06*t), 1)
	a.counter, a.checkpoint = 0, false
	clear(a.improved)
	for i := range a.step {
		a.step[i] = firstStep * p.Eps
		a.reduced[i] = true // the first checkpoint asks for progress alone
	}
}

// tick moves on to iterate t.
func (a *autoStep) tick(t int) {
	if a.checkpoint {
		a.window = max(a.window-a.shrink, a.shortest)
		a.counter = 0
	}
	if t > 0 {
		a.counter++
	}
	a.checkpoint = t > 0 && a.counter == a.window
}

// advance moves image i of c by one step against g, its gradient; better says
// that the current iterate is the best so far.
func (a *autoStep) advance(c *crafting, i int, g []float32, better bool) {
	x, x0, prev, bestGrad := c.x.Row(i), c.x0.Row(i), a.prev.Row(i), a.bestGrad.Row(i)
	if better {
		copy(bestGrad, g)
	}
	if c.t == 0 {
		a.bestCheck[i] = c.best[i]
	} else if c.per[i] < a.last[i] {
		a.improved[i]++
	}
	a.last[i] = c.per[i]
	if a.checkpoint {
		slow := float64(a.improved[i]) <= progress*float64(a.window)
		stuck := !a.reduced[i] && !(c.best[i] < a.bestCheck[i])
		a.reduced[i] = slow || stuck
		a.bestCheck[i] = c.best[i]
		a.improved[i] = 0
		if a.reduced[i] {
			a.step[i] /= 2
			copy(x, c.bestX.Row(i))
			g = bestGrad
		}
	}
	// x <- P(x + m (P(x - step g) - x) + (1 - m)(x - prev)); the first step has
	// no momentum. prev is overwritten by x as it is read.
	if c.t == 0 {
		copy(prev, x)
		c.p.descend(x, g, a.step[i])
		c.p.project(x, x0)
		return
	}
	moved := a.moved.Row(i)
	copy(moved, x)
	c.p.descend(moved, g, a.step[i])
	c.p.project(moved, x0)
	for k, v := range x {
		x[k] = v + float32(momentum*(moved[k]-v)) + float32((1-momentum)*(v-prev[k]))
		prev[k] = v
	}
	c.p.project(x, x0)
}
