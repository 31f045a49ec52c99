package worst

import (
	"maps"
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
	"tercet/internal/stat"
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

// order is the number in an id.
func order(id string) (n int) {
	for _, d := range id[1:] {
		if d >= '0' && d <= '9' {
			n = 10*n + int(d-'0')
		}
	}
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

func count(set map[int]bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

// randomness: the same images, embedded twice (B2), verification (B18) and ties (B19).
func (b *battery) randomness() error {
	differ, ties := 0, 0
	err := b.batches(b.places, func(w *batch) error {
		z := b.model.Embed(w.x, nn.Eval).Clone()
		again := b.model.Embed(w.x, nn.Eval)
		b.field.aim(w.items)
		b.field.find(z, b.field.depth())
		for i := range w.items {
			for k, v := range z.Row(i) {
				if math.Float32bits(v) != math.Float32bits(again.Row(i)[k]) {
					differ++
					break
				}
			}
			if right := b.field.right(i); len(right) > 0 && math.Abs(margin(b.field, i)) <= 1e-6*root(right[0].Square) {
				ties++
			}
		}
		return nil
	})
	claimed, lost := 0, 0
	for _, m := range b.s.Ran {
		claimed, lost = claimed+m.Claimed, lost+m.Claimed-m.Broken
	}
	b.add("B2", "queries whose embedding differs when computed again", b.share(differ), 0, 0)
	b.add("B18", "claimed successes that verification does not find", float64(lost)/float64(max(claimed, 1)), 0.001, 0.01)
	b.add("B19", "clean queries whose margin is within rounding", b.share(ties), 0.01, b.never)
	return err
}

// blackBoxes: queries that gradients do not break but attacks without them do (B3, B10).
func (b *battery) blackBoxes() error {
	total := float64(len(b.s.By))
	only, noise := 0, []int(nil)
	for p, by := range b.s.By {
		if by == 0 {
			continue
		}
		switch b.s.Ran[by-1].Member {
		case "square", "square-rank", "rays":
			only++
		case "noise":
			noise = append(noise, p)
		}
	}
	found, err := b.apgdOf(noise, b.pgd, 0, nil)
	if err != nil {
		return err
	}
	only += len(noise) - count(found)
	b.add("B3", "queries that only attacks without gradients break", float64(only)/total, 0, max(3/total, 0.002))
	var open []int
	for _, p := range b.places {
		if b.s.By[p] == 0 {
			open = append(open, p)
		}
	}
	corners := 0
	err = b.batches(open, func(w *batch) error {
		for draw := range batteryCorners {
			x := w.adv
			for i, item := range w.items {
				var s rng.Stream
				s.Reset(b.o.Seed, "worst.corners", uint64(item), uint64(draw))
				b.random(w.x.Row(i), x.Row(i), &s, true)
			}
			if err := b.ctx.Err(); err != nil {
				return err
			}
			b.field.aim(w.items)
			b.field.find(b.model.Embed(x, nn.Eval), b.field.depth())
			for i := range w.items {
				if beaten(b.field, i) && !w.broken[i] {
					w.broken[i] = true
					corners++
				}
			}
		}
		return nil
	})
	b.add("B10", "queries that only 1,000 random corners of the ball break", b.share(corners), 0, 0.005)
	return err
}

// iterations: one step against many (B4), vanished gradients (B1), whether the objective
// still falls (B13) and whether more steps break more (B5).
func (b *battery) iterations() error {
	vanished, falling, unbroken := map[int]bool{}, 0, 0
	p := b.pgd
	p.Iterations = early
	if _, err := b.apgdOf(b.places, p, 1, func(place, i int, a *adversary.Attempt, _ *batch) {
		vanished[place] = a.Zero[i] > 0
	}); err != nil {
		return err
	}
	b.add("B1", "queries with an input gradient of 0 in the first 10 steps", b.share(count(vanished)), 0, 0.01)
	full, err := b.apgdOf(b.places, b.pgd, 1, func(_, i int, a *adversary.Attempt, _ *batch) {
		if a.Reached[i] {
			return
		}
		unbroken++
		if fall := a.First[i] - a.Objective[i]; fall > 0 && (a.Before[i]-a.Objective[i])/fall > largeStep {
			falling++
		}
	})
	if err != nil {
		return err
	}
	b.add("B13", "unbroken queries whose objective still falls in the last 10 steps", float64(falling)/float64(max(unbroken, 1)), 0.1, 0.3)
	p = b.pgd
	p.Rule, p.Iterations, p.Step = adversary.Fixed, 1, p.Eps
	once, err := b.apgdOf(b.places, p, 1, nil)
	if err != nil {
		return err
	}
	stuck := 0
	for place, is := range once {
		if is && !full[place] && b.s.By[place] == 0 {
			stuck++
		}
	}
	b.add("B4", "queries that one step breaks and the ensemble does not", b.share(stuck), 0, 0.005)
	var open []int
	for _, place := range b.places {
		if b.s.By[place] == 0 {
			open = append(open, place)
		}
	}
	var more [2]int
	for k := range more {
		p = b.pgd
		p.Iterations *= 2 << k
		found, err := b.apgdOf(open, p, 2+k, nil)
		if err != nil {
			return err
		}
		more[k] = count(found)
		open = slices.DeleteFunc(open, func(place int) bool { return found[place] })
	}
	b.add("B5", "further queries that twice the steps break", b.share(more[0]), 0.005, b.never)
	b.add("B5b", "further queries that four times the steps break", b.share(more[1]), 0.005, 0.02)
	return nil
}

// radii: smaller balls break no more (B7), all images at hand break everything (B8), and
// the gray image is of one class (B9).
func (b *battery) radii() error {
	last, rise := -1, 0
	for k := 3; k >= 0; k-- {
		p := b.pgd
		p.Eps = b.o.Eps / float64(int(1)<<k)
		found, err := b.apgdOf(b.places, p, 1, nil)
		if err != nil {
			return err
		}
		n := count(found)
		rise = max(rise, last-n)
		last = n
	}
	b.add("B7", "largest fall of the broken queries from a ball to the next larger one", b.share(rise), 0.005, 0.02)
	if b.o.Norm != adversary.Linf {
		return nil
	}
	h, w, c := b.images.Shape()
	gray := array.New(1, h, w, c)
	for k := range gray.Data {
		gray.Data[k] = 0.5
	}
	z, right, labels := b.model.Embed(gray, nn.Eval).Clone(), 0, map[int32]int{}
	for _, p := range b.places {
		b.field.aim(b.items[p : p+1])
		b.field.find(z, b.field.depth())
		if labels[b.gallery.Label(b.items[p])]++; !beaten(b.field, 0) {
			right++
		}
	}
	most := 0 // of the classes that may be among the nearest rows of one point
	for _, n := range slices.Sorted(maps.Values(labels))[max(0, len(labels)-b.field.depth()):] {
		most += n
	}
	b.add("B9", "queries right at the gray image, over the largest class", max(0, b.share(right-most)), 0, 0)
	return nil
}

// anything: with every image in the ball copies of wrong images break all queries (B8).
func (b *battery) anything() error {
	if b.field.depth() > 1 {
		return nil // a copy is near one wrong row, not several
	}
	left := 0
	err := b.batches(b.places, func(w *batch) error {
		for i, item := range w.items {
			copy(w.adv.Row(i), w.x.Row(i))
			b.field.aim([]int{item})
			b.field.find(b.cleanOf(w, i), b.field.depth())
			if wrong := b.field.wrong(0); len(wrong) > 0 && b.s.Gallery != Prototypes {
				if err := b.images.Read(int(b.gallery.Image(wrong[0].Row)), w.adv.Row(i)); err != nil {
					return b.about(w.items[i:i+1], err)
				}
			}
		}
		b.field.aim(w.items)
		b.field.find(b.model.Embed(w.adv, nn.Eval), b.field.depth())
		for i := range w.items {
			if !beaten(b.field, i) {
				left++
			}
		}
		return nil
	})
	if b.s.Gallery != Prototypes {
		b.add("B8", "queries that stay right as a copy of a wrong image", b.share(left), 0, 0)
	}
	return err
}

func (b *battery) cleanOf(w *batch, i int) *array.Array { return w.clean.Slice(i, i+1) }

// surface: how much the loss moves around the clean image (B14).
func (b *battery) surface() error {
	var moves []float64
	err := b.batches(b.places, func(w *batch) error {
		base, sum := b.losses(w, w.x), make([]float64, len(w.items))
		for draw := range batteryDraws {
			for i, item := range w.items {
				var s rng.Stream
				s.Reset(b.o.Seed, "worst.surface", uint64(item), uint64(draw))
				b.around(w.x.Row(i), w.adv.Row(i), &s, b.o.Eps/8)
			}
			for i, v := range b.losses(w, w.adv) {
				sum[i] += math.Abs(v-base[i]) / max(math.Abs(base[i]), 1e-12) / batteryDraws
			}
			if err := b.ctx.Err(); err != nil {
				return err
			}
		}
		moves = append(moves, sum...)
		return nil
	})
	b.add("B14", "relative change of the loss in an eighth of the radius, median", stat.Median(moves), 1, 5)
	return err
}

// losses returns the margin loss of each query of w at images x.
func (b *battery) losses(w *batch, x *array.Array) []float64 {
	b.field.aim(w.items)
	b.field.find(b.model.Embed(x, nn.Eval), b.field.depth())
	out := make([]float64, len(w.items))
	for i := range out {
		if len(b.field.right(i)) == 0 || len(b.field.wrong(i)) == 0 {
			out[i] = math.NaN()
			continue
		}
		out[i] = marginLoss{}.at(b.field, i, nil, nil)
	}
	return out
}

// around writes x with uniform noise of each pixel up to far, in [0, 1], to out.
func (b *battery) around(x, out []float32, s *rng.Stream, far float64) {
	if b.o.Norm == adversary.L2 {
		far /= math.Sqrt(float64(len(x)) / 3) // of the same length on average
	}
	for k, v := range x {
		out[k] = min(max(v+float32(s.Uniform(-far, far)), 0), 1)
	}
}

// leastDifference is the smallest step of a difference quotient that float32 resolves.
const leastDifference = 1e-3

// gradients: against difference quotients (B15) and against those near by (B16).
func (b *battery) gradients() error {
	var wrong, turn []float64
	h := float32(max(b.o.Eps/100, leastDifference))
	if b.o.Norm == adversary.L2 {
		h = leastDifference
	}
	err := b.batches(b.places, func(w *batch) error {
		g := b.gradientAt(w, w.x)
		slope := make([]float64, len(w.items))
		for i := range w.items {
			for k, v := range g.Row(i) {
				slope[i] += math.Abs(float64(v))
				w.adv.Row(i)[k] = w.x.Row(i)[k] + float32(h*sign(v))
			}
		}
		up := b.losses(w, w.adv)
		for i := range w.items {
			for k, v := range g.Row(i) {
				w.adv.Row(i)[k] = w.x.Row(i)[k] - float32(h*sign(v))
			}
		}
		down := b.losses(w, w.adv)
		for i := range w.items {
			quotient := (up[i] - down[i]) / (2 * float64(h))
			wrong = append(wrong, math.Abs(quotient-slope[i])/max(math.Abs(quotient), slope[i], 1e-12))
		}
		for i, item := range w.items {
			var s rng.Stream
			s.Reset(b.o.Seed, "worst.turn", uint64(item))
			b.around(w.x.Row(i), w.adv.Row(i), &s, b.o.Eps/2)
		}
		other := b.gradientAt(w, w.adv)
		for i := range w.items {
			turn = append(turn, 1-cosine(g.Row(i), other.Row(i)))
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(wrong)
	b.add("B15", "relative error of the gradient along its sign, 9 of 10 queries below", stat.Quantile(wrong, 0.9), 0.1, 0.5)
	b.add("B16", "1 - cosine of the gradients at the image and half a radius away, median", stat.Median(turn), 0.8, 0.98)
	return nil
}

func sign(v float32) float32 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for k, v := range a {
		ab += float64(float64(v) * float64(b[k]))
		aa += float64(float64(v) * float64(v))
		bb += float64(float64(b[k]) * float64(b[k]))
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}

// gradientAt returns the gradient of the margin loss at images x of the queries of w.
func (b *battery) gradientAt(w *batch, x *array.Array) *array.Array {
	z := b.model.Embed(x, nn.Eval)
	b.field.aim(w.items)
	b.field.find(z, b.field.depth())
	dz := array.New(z.Rows(), z.Cols())
	for i := range w.items {
		if len(b.field.right(i)) > 0 && len(b.field.wrong(i)) > 0 {
			marginLoss{}.at(b.field, i, nil, dz.Row(i))
		}
	}
	return b.model.Backward(dz, nn.Input).Clone()
}
