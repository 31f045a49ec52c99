package worst

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Check is one of the battery that looks for masked gradients: a value that should be small.
type Check struct {
	ID, What   string
	Value      float64
	Warn, Fail float64 // the check warns and fails above these; an infinite one never does
}

// Verdicts of checks.
const (
	Pass = "pass"
	Warn = "warn"
	Fail = "fail"
)

// Verdict compares the value with its limits. A value that is not a number fails.
func (c Check) Verdict() string {
	switch {
	case !(c.Value <= c.Fail):
		return Fail
	case c.Value > c.Warn:
		return Warn
	}
	return Pass
}

const (
	batteryQueries = 200  // at most, of those that are right when clean
	batteryCorners = 1000 // random corners of each query that is not broken
	batteryDraws   = 100  // of the loss around the clean image
	early          = 10   // steps in which no gradient may vanish
	largeStep      = 0.05 // of the fall of the objective: not yet at its end
)

// battery is the run of all checks.
type battery struct {
	*runner
	places []int // its queries
	out    []Check
	never  float64
}

// check runs the battery on queries of the first gallery, whose state is s.
func (r *runner) check(s *State) ([]Check, error) {
	r.s, r.before = s, nil
	var err error
	if r.field, err = newField(s.Gallery, r.gallery, r.o.K); err != nil {
		return nil, err
	}
	b := &battery{runner: r, never: math.Inf(1)}
	for p, by := range s.By {
		if by != 1 && len(b.places) < batteryQueries {
			b.places = append(b.places, p)
		}
	}
	if len(b.places) == 0 || r.o.Eps == 0 {
		return nil, nil
	}
	for _, f := range []func() error{b.randomness, b.blackBoxes, b.gradients, b.iterations, b.restarts, b.radii, b.surface, b.anything, b.networks} {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if err := f(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(b.out, func(a, c Check) int { return order(a.ID) - order(c.ID) })
	return b.out, nil
}

// order is the number in an id, such as 5 of B5b.
func order(id string) int {
	n, _ := strconv.Atoi(strings.Trim(id, "Bb"))
	return n
}

func (b *battery) add(id, what string, value, warn, fail float64) {
	b.out = append(b.out, Check{id, what, value, warn, fail})
}

// share is a count as a part of the battery's queries.
func (b *battery) share(n int) float64 { return float64(n) / float64(len(b.places)) }

// apgdOf runs APGD on some queries with the loss margin, and returns what became of each, by
// its place.
func (b *battery) apgdOf(places []int, p adversary.PGD, run int, each func(place, row int, a *adversary.Attempt, w *batch)) (map[int]bool, error) {
	broken := map[int]bool{}
	err := b.batches(places, func(w *batch) error {
		b.field.aim(w.items)
		g := &goal{ctx: b.ctx, f: b.field, loss: marginLoss{}}
		seed := rng.New(b.o.Seed, "worst.battery", uint64(run)).Uint64()
		a, err := p.RunUntil(b.model, w.x, w.ids, g, seed, w.adv)
		if err != nil {
			return b.about(w.items, err)
		}
		for i, place := range w.places {
			broken[place] = a.Reached[i]
			if each != nil {
				each(place, i, a, w)
			}
		}
		return nil
	})
	return broken, err
}

// look finds what the queries of w retrieve at images x, and returns their embeddings.
func (b *battery) look(w *batch, x *array.Array) *array.Array {
	z := b.model.Embed(x, nn.Eval)
	b.field.aim(w.items)
	b.field.find(z, b.field.depth())
	return z
}

// open lists the queries that the ensemble does not break.
func (b *battery) open() []int {
	return slices.DeleteFunc(slices.Clone(b.places), func(place int) bool { return b.s.By[place] != 0 })
}

func count(set map[int]bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}
