package adversary

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// Reachable is a Goal that an image reaches or not, whatever its objective is.
type Reachable interface {
	Goal
	// Reached reports whether image i of the last Eval has reached the goal.
	Reached(i int) bool
	// Retain leaves out all images but those of rows, ascending places among the present
	// ones, which become 0, 1, 2, ...
	Retain(rows []int)
}

// Attempt describes one RunUntil over B images.
type Attempt struct {
	Reached   []bool    // (B)
	Objective []float64 // (B) lowest objective; where the goal was reached, that of the result
	First     []float64 // (B) objective of the first iterate
	Before    []float64 // (B) lowest objective trail steps before the last
	Zero      []int     // (B) input gradients that were zero in every pixel
	Steps     []int     // (B) gradient steps
	record.Cost
}

// trail is how far from its end a run's objective is kept, to see if it still falls.
const trail = 10

// until is the state of RunUntil.
type until struct {
	rows    []int        // image of each row that is left
	x0      *array.Array // their clean images
	attempt Attempt
	left    []int // rows that stay
}

// RunUntil is one run of PGD for a goal that images reach. An image's result is its first
// iterate that does, and the image then leaves: following passes are of the others alone.
// The result of an image that does not reach the goal is its best iterate. The attempt
// belongs to p and is valid until its next run.
//
// Rows must not depend on each other: p.Mode has to be Eval. Keep has to be Best, Restarts
// 1; random starts depend on (seed, id).
func (p *PGD) RunUntil(model nn.Embedder, x0 *array.Array, ids []uint64, goal Reachable, seed uint64, out *array.Array) (*Attempt, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Keep != Best || p.Restarts != 1 || p.Mode != nn.Eval || p.KeepPrevious || p.Precision == BF16 {
		return nil, fmt.Errorf("pgd: a run until its goal is reached keeps the best iterate of one run in mode eval and float32")
	}
	if err := p.check(x0, ids, out); err != nil {
		return nil, err
	}
	c, u := &p.c, &p.u
	c.prepare(p, x0, out, model.Dim())
	c.begin(ids, seed, 0)
	u.begin(c, x0)
	stepper, _ := goal.(Stepper)
	for t := 0; len(u.rows) > 0; t++ {
		z := model.Embed(c.x, p.Mode)
		u.attempt.Forward += int64(len(u.rows))
		dz, final := c.dz, t == p.Iterations
		if final {
			dz = nil
		}
		if stepper != nil {
			stepper.Step(t)
		}
		if err := goal.Eval(z, c.per, dz); err != nil {
			return nil, fmt.Errorf("pgd: step %d: %w", t, err)
		}
		if err := u.named(c.checkObjective(t)); err != nil {
			return nil, err
		}
		u.observe(c, t, goal)
		if final {
			c.t = t
			for i := range u.rows {
				c.record(i, z)
			}
			u.end(c)
			break
		}
		if len(u.left) > 0 {
			dx := model.Backward(dz, nn.Input)
			u.attempt.Backward += int64(len(u.left)) // of those that end here the gradient is not used
			if err := u.named(c.advance(t, z, dx)); err != nil {
				return nil, err
			}
		}
		u.leave(c, goal, t)
	}
	c.x0 = x0
	return &u.attempt, nil
}

func (u *until) begin(c *crafting, x0 *array.Array) {
	b := x0.Shape[0]
	u.rows, u.left = grow(u.rows, b), u.left[:0]
	for i := range u.rows {
		u.rows[i] = i
	}
	u.x0 = fit(u.x0, x0)
	copy(u.x0.Data, x0.Data)
	c.x0 = u.x0
	a := &u.attempt
	a.Reached, a.Objective, a.First, a.Before = grow(a.Reached, b), grow(a.Objective, b), grow(a.First, b), grow(a.Before, b)
	a.Zero, a.Steps = grow(a.Zero, b), grow(a.Steps, b)
	a.Cost = record.Cost{}
	clear(a.Reached)
}

// named gives an error about a row the place of its image.
func (u *until) named(err error) error {
	if bad, is := err.(*ImageError); is {
		return &ImageError{u.rows[bad.Image], bad.Unwrap()}
	}
	return err
}

// observe takes the results of the images that have reached the goal at iterate t, and lists
// the others.
func (u *until) observe(c *crafting, t int, goal Reachable) {
	a := &u.attempt
	u.left = u.left[:0]
	for i, image := range u.rows {
		if t == 0 {
			a.First[image], a.Before[image] = c.per[i], c.per[i]
		}
		if t > 0 && t == c.p.Iterations-trail {
			a.Before[image] = min(c.per[i], c.best[i])
		}
		if !goal.Reached(i) {
			u.left = append(u.left, i)
			continue
		}
		a.Reached[image], a.Objective[image], a.Zero[image], a.Steps[image] = true, c.per[i], c.zero[i], t
		copy(c.out.Row(image), c.x.Row(i))
	}
}

// leave takes the images that have reached the goal out of the passes that follow.
func (u *until) leave(c *crafting, goal Reachable, t int) {
	if len(u.left) == len(u.rows) {
		return
	}
	for at, i := range u.left {
		u.rows[at] = u.rows[i]
	}
	u.rows = u.rows[:len(u.left)]
	if len(u.rows) > 0 {
		c.retain(u.left)
		goal.Retain(u.left)
	}
}

// end takes the results of the images that have not reached the goal.
func (u *until) end(c *crafting) {
	a := &u.attempt
	for i, image := range u.rows {
		if a.Reached[image] {
			continue
		}
		a.Objective[image], a.Zero[image], a.Steps[image] = c.best[i], c.zero[i], c.p.Iterations
		copy(c.out.Row(image), c.bestX.Row(i))
	}
}

// retain leaves out all images but those of rows, ascending.
func (c *crafting) retain(rows []int) {
	for _, a := range []*array.Array{c.x, c.x0, c.bestX, c.bestZ} {
		retainRows(a, rows)
	}
	c.per, c.best, c.zero = retained(c.per, rows), retained(c.best, rows), retained(c.zero, rows)
	c.bad = c.bad[:len(rows)]
	c.dz.SetRows(len(rows))
	if c.p.Rule == Auto {
		c.auto.retain(rows)
	}
}

func (a *autoStep) retain(rows []int) {
	retainRows(a.prev, rows)
	retainRows(a.bestGrad, rows)
	a.last, a.improved, a.step = retained(a.last, rows), retained(a.improved, rows), retained(a.step, rows)
	a.reduced, a.bestCheck = retained(a.reduced, rows), retained(a.bestCheck, rows)
}

// retainRows moves rows, ascending, to the front of a.
func retainRows(a *array.Array, rows []int) {
	for to, from := range rows {
		copy(a.Row(to), a.Row(from))
	}
	a.SetRows(len(rows))
}

func retained[T any](s []T, rows []int) []T {
	for to, from := range rows {
		s[to] = s[from]
	}
	return s[:len(rows)]
}
