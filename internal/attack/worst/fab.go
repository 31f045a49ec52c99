package worst

import (
	"math"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// FAB (Croce & Hein, ICML 2020) looks for the smallest perturbation: it steps to the plane
// where the loss, taken as linear, is 0, from the iterate and from the clean image, and
// mixes the two. The constants are those of AutoAttack.
const (
	fabMix   = 0.1  // largest share of the step from the clean image
	fabOver  = 1.05 // how far over the plane
	fabBack  = 0.9  // how far back to the clean image after a success
	fabLeast = 1e-8
)

// fabShare is the part of the steps that FAB takes towards each row. With all of them it broke
// no query that the members before it had left, in 186 galleries of our studies: it is here for
// the radius.
const fabShare = 3

// fabTargets runs FAB at the rows with the nearest cells, one after another.
func (r *runner) fabTargets(b *batch) error {
	aims, most := r.aims(b, r.perLabel())
	for k := range min(most, targets) {
		rows := b.open()
		if len(rows) == 0 {
			return nil
		}
		w := r.sub.take(b, rows)
		l := &itemLoss{}
		for _, i := range rows {
			l.targets = append(l.targets, aims[i][min(k, len(aims[i])-1)])
		}
		f := &fab{r: r, w: w, loss: l, x: r.spare(w, k), best: make([]float64, len(rows))}
		if err := f.run(max(1, r.o.Steps/fabShare)); err != nil {
			return r.about(w.items, err)
		}
		for k, i := range rows {
			b.claimed[i] = f.best[k] <= r.o.Eps
			p := b.places[i]
			r.s.Radius[p] = min(r.s.Radius[p], float64(float32(f.best[k])))
		}
		if err := r.settle(b, rows, w.adv); err != nil {
			return err
		}
	}
	return nil
}

// radiusSteps is the number of steps of the runs that measure broken queries.
const radiusSteps = 30

// radii runs FAB from the clean image, at whatever wrong row is the nearest and at the one
// with the nearest cell, and keeps the norm of the smallest success of each query.
func (r *runner) radii(b *batch) error {
	aims, _ := r.aims(b, r.perLabel())
	l := &itemLoss{}
	for _, a := range aims {
		l.targets = append(l.targets, a[0])
	}
	for _, l := range []loss{marginLoss{}, l} {
		f := &fab{r: r, w: b, loss: l, x: b.x.Clone(), best: make([]float64, len(b.items)), all: true}
		if err := f.run(radiusSteps); err != nil {
			return r.about(b.items, err)
		}
		for i, p := range b.places {
			r.s.Radius[p] = min(r.s.Radius[p], float64(float32(f.best[i])))
		}
	}
	return nil
}

// spare returns where the runs of FAB with number k begin: at the clean images, later ones
// half as far away as the nearest success so far or the radius.
func (r *runner) spare(w *batch, k int) *array.Array {
	x := w.x.Clone()
	if k == 0 {
		return x
	}
	d := make([]float64, x.Cols())
	for i, p := range w.places {
		s, size := rng.New(r.o.Seed, "worst.fab-t", uint64(w.items[i]), uint64(k)), 0.0
		for j := range d {
			d[j] = s.Uniform(-1, 1)
			if r.o.Norm == adversary.L2 {
				d[j] = s.NormFloat64()
			}
		}
		size = r.o.length(d)
		for j := range d {
			d[j] *= 0.5 * min(r.s.Radius[p], r.o.Eps) / max(size, fabLeast)
		}
		shift(x.Row(i), d, 1)
	}
	return x
}

// shift adds t d to x and clips it to [0, 1].
func shift(x []float32, d []float64, t float64) {
	for k, v := range x {
		x[k] = float32(min(max(float64(v)+float64(t*d[k]), 0), 1))
	}
}

// length is the norm of a perturbation.
func (o *Options) length(d []float64) float64 {
	most, square := 0.0, 0.0
	for _, v := range d {
		most = max(most, math.Abs(v))
		square += float64(v * v)
	}
	if o.Norm == adversary.Linf {
		return most
	}
	return math.Sqrt(square)
}

// apart is the norm of the difference of two images.
func (o *Options) apart(a, b []float32) float64 {
	d := make([]float64, len(a))
	for k := range d {
		d[k] = float64(a[k]) - float64(b[k])
	}
	return o.length(d)
}

// fab is one run on all queries of a batch. Those that are broken within the radius leave, unless all stay.
type fab struct {
	r    *runner
	w    *batch
	loss loss
	x    *array.Array // iterates of the rows that are left
	best []float64    // of each query, the norm of its nearest success
	left []int        // query of each row
	all  bool         // no query leaves
	per  []float64
	dz   *array.Array
}

func (f *fab) run(steps int) error {
	r := f.r
	f.dz = array.New(f.x.Rows(), r.model.Dim())
	f.per = make([]float64, f.x.Rows())
	for i := range f.best {
		f.best[i], f.left = math.Inf(1), append(f.left, i)
	}
	r.field.aim(f.w.items)
	var z *array.Array   // embeddings of the iterates, which were searched for; nil: some moved since
	moved := len(f.left) // so many
	for range steps {
		g := goal{ctx: r.ctx, f: r.field, loss: f.loss}
		if z == nil {
			z = r.model.Embed(f.x, nn.Eval)
			r.cost.Forward += int64(moved) // the others are repeated for the sake of those
			g.find(z)
		}
		if err := g.score(z, f.per, f.dz); err != nil {
			return err
		}
		dx := r.model.Backward(f.dz, nn.Input)
		r.cost.Backward += int64(f.x.Rows())
		par.Each(f.x.Rows(), 1, func(k int) {
			f.step(k, dx.Row(k))
		})
		z = r.embed(r.model, f.x)
		g.find(z)
		var stay []int
		moved = 0
		for k, i := range f.left {
			x, x0 := f.x.Row(k), f.w.x.Row(i)
			beaten := beaten(r.field, k)
			if beaten {
				if far := r.o.apart(x, x0); far < f.best[i] {
					f.best[i] = far
					copy(f.w.adv.Row(i), x)
				}
				for j, c := range x0 {
					x[j] = float32(float64(c) + float64(fabBack*(float64(x[j])-float64(c))))
				}
			}
			if f.all || f.best[i] > r.o.Eps {
				stay = append(stay, k)
				if beaten {
					moved++
				}
			}
		}
		if len(stay) == 0 {
			return nil
		}
		if moved > 0 || len(stay) < len(f.left) {
			z = nil
		}
		if len(stay) < len(f.left) {
			f.left, f.per = retained(f.left, stay), f.per[:len(stay)]
			for to, from := range stay {
				copy(f.x.Row(to), f.x.Row(from))
			}
			f.x.SetRows(len(stay))
			f.dz.SetRows(len(stay))
			f.loss.retain(stay)
			r.field.retain(stay)
		}
	}
	return nil
}

// step moves row k, where the loss has the gradient g.
func (f *fab) step(k int, g []float32) {
	x, x0 := f.x.Row(k), f.w.x.Row(f.left[k])
	gap := f.per[k]
	far := gap
	for j, v := range g {
		far += float64(float64(v) * (float64(x0[j]) - float64(x[j])))
	}
	d1, d2 := make([]float64, len(x)), make([]float64, len(x))
	f.r.o.onto(x, g, gap, d1)
	f.r.o.onto(x0, g, far, d2)
	a, b := max(f.r.o.length(d1), fabLeast), max(f.r.o.length(d2), fabLeast)
	mix := min(a/(a+b), fabMix)
	for j := range x {
		near := float64(x[j]) + float64(fabOver*d1[j])
		clean := float64(x0[j]) + float64(fabOver*d2[j])
		x[j] = float32(min(max(float64((1-mix)*near)+float64(mix*clean), 0), 1))
	}
}

// bisections is how often an interval is halved: to the last bits of a float32.
const bisections = 40

// onto writes to d the smallest step from v to the plane <w, d> = -gap that stays in [0, 1],
// or the step that comes nearest to it.
func (o *Options) onto(v, w []float32, gap float64, d []float64) {
	sign := 1.0
	if gap < 0 {
		sign, gap = -1, -gap
	}
	if o.Norm == adversary.Linf {
		ontoLinf(v, w, sign, gap, d)
		return
	}
	at := func(mu float64) (reached float64) {
		for k, x := range v {
			d[k] = min(max(-mu*sign*float64(w[k]), -float64(x)), 1-float64(x))
			reached -= float64(sign * float64(w[k]) * d[k])
		}
		return reached
	}
	square := 0.0
	for _, g := range w {
		square += float64(float64(g) * float64(g))
	}
	if square == 0 {
		clear(d)
		return
	}
	low, high := 0.0, gap/square
	for n := 0; at(high) < gap && n < 60; n++ {
		low, high = high, 2*high+1e-30
	}
	for range bisections {
		if mid := (low + high) / 2; at(mid) < gap {
			low = mid
		} else {
			high = mid
		}
	}
	at(high)
}

// ontoLinf cuts the step of each coordinate to the room that it has: all have the length of
// the smallest multiple of 2^-bisections at which the plane is reached, or of 1.
func ontoLinf(v, w []float32, sign, gap float64, d []float64) {
	room := d // until the step is known
	for k, g := range w {
		room[k] = float64(v[k])
		if sign*float64(g) < 0 {
			room[k] = 1 - room[k]
		}
	}
	reached := func(lambda float64) (sum, slope float64) {
		for k, g := range w {
			a, most := math.Abs(float64(g)), room[k]
			if lambda < most {
				most = lambda
				slope += a
			}
			sum += float64(a * most)
		}
		return sum, slope
	}
	high := 1.0
	if most, _ := reached(1); most > gap {
		high = leastReaching(gap, reached)
	}
	for k, g := range w {
		s := sign * float64(g)
		switch {
		case s > 0:
			d[k] = -min(high, float64(v[k]))
		case s < 0:
			d[k] = min(high, 1-float64(v[k]))
		default:
			d[k] = 0
		}
	}
}

// tangents is how many tangents leastReaching tries before it halves intervals.
const tangents = 16

// leastReaching returns the smallest positive multiple of 2^-bisections below 1 at which
// reached, which does not fall and is concave but for rounding, is gap or more, and 1 where
// there is none. It is what halving [0, 1] so often ends with; tangents find it sooner.
func leastReaching(gap float64, reached func(float64) (value, slope float64)) float64 {
	const parts = 1 << bisections
	low, high, guess := int64(0), int64(parts), 0.0
	value, slope := reached(0)
	for n := 0; high-low > 1; n++ {
		at := (low + high) / 2
		if guess += (gap - value) / slope; n < tangents && guess > 0 && guess < 1 {
			at = min(max(int64(math.Ceil(guess*parts)), low+1), high-1)
		}
		guess = float64(at) / parts
		if value, slope = reached(guess); value < gap {
			low = at
		} else {
			high = at
		}
	}
	return float64(high) / parts
}
