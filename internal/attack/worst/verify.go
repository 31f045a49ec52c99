package worst

import (
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
)

// slack is how far over the radius a verified image may be, as a part of it; in addition
// each pixel may be off by the rounding of a float32.
const slack = 1e-6

// Allowed is the largest norm of a verified perturbation of so many pixels in a ball of radius
// eps. What is proven within eps has to hold as far as this.
func Allowed(norm adversary.Norm, eps float64, pixels int) float64 {
	off := 0x1p-24
	if norm == adversary.L2 {
		off *= math.Sqrt(float64(pixels))
	}
	return float64(eps*(1+slack)) + off
}

// inside reports whether x is an image of the ball around x0, in float64.
func (o *Options) inside(x0, x []float32) bool {
	most, square := 0.0, 0.0
	for k, v := range x {
		if !(v >= 0 && v <= 1) {
			return false
		}
		d := math.Abs(float64(v) - float64(x0[k]))
		most = max(most, d)
		square += float64(d * d)
	}
	if o.Norm == adversary.L2 {
		most = math.Sqrt(square)
	}
	return most <= Allowed(o.Norm, o.Eps, len(x))
}

// try embeds an image of each query of b that is not broken, written by point, and settles
// those that the evaluation gets wrong. point is called from several goroutines.
func (r *runner) try(b *batch, point func(i int, x, out []float32) error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	rows := b.open()
	if len(rows) == 0 {
		return nil
	}
	w := r.sub.take(b, rows)
	errs := make([]error, len(rows))
	par.Each(len(rows), 1, func(k int) {
		errs[k] = point(rows[k], w.x.Row(k), w.adv.Row(k))
	})
	for k, err := range errs {
		if err != nil {
			return r.about(w.items[k:k+1], err)
		}
	}
	r.field.aim(w.items)
	r.field.find(r.embed(r.model, w.adv), r.field.depth())
	for k, i := range rows {
		b.claimed[i] = beaten(r.field, k)
	}
	return r.settle(b, rows, w.adv)
}

// embed is a forward pass that is counted.
func (r *runner) embed(m nn.Embedder, x *array.Array) *array.Array {
	r.cost.Forward += int64(x.Rows())
	return m.Embed(x, nn.Eval)
}

// settle verifies the images adv (len(rows), ...) of the claimed rows of b, and records
// those that hold: in a batch and alone by the verifier, within the ball, and still broken
// when the pixels are rounded to 8 bits. Of a query that was broken before, which only member
// given attacks, it keeps that image and who made it.
func (r *runner) settle(b *batch, rows []int, adv *array.Array) error {
	w := r.checked
	var of, from []int
	for k, i := range rows {
		if b.claimed[i] {
			of, from = append(of, i), append(from, k)
		}
	}
	if len(of) == 0 {
		return nil
	}
	w.take(b, of)
	for k, at := range from {
		copy(w.adv.Row(k), adv.Row(at))
	}
	m, before := r.now, make([]bool, len(of))
	for k, i := range of {
		if before[k] = r.s.By[b.places[i]] > 0; !before[k] {
			m.Claimed++
		}
	}
	holds, margins := make([]bool, len(of)), make([]float64, len(of))
	r.field.aim(w.items)
	r.field.find(r.embed(r.model, w.adv), r.field.depth())
	for k := range of {
		holds[k] = beaten(r.field, k) && r.o.inside(w.x.Row(k), w.adv.Row(k))
		margins[k] = margin(r.field, k)
	}
	for k := range of {
		if holds[k] {
			r.field.aim(w.items[k : k+1])
			r.field.find(r.embed(r.verifier, w.adv.Slice(k, k+1)), r.field.depth())
			holds[k] = beaten(r.field, 0)
		}
	}
	rounded, radius := r.eight(w), r.nearer(w)
	for k, i := range of {
		b.claimed[i] = false
		if !holds[k] {
			continue
		}
		b.broken[i] = true
		p := b.places[i]
		r.s.Radius[p] = min(r.s.Radius[p], radius[k])
		if m.Member == given {
			m.Verified++
		}
		if before[k] {
			r.s.Eight[p] = r.s.Eight[p] || rounded[k]
			continue
		}
		r.s.By[p], r.s.Margin[p], r.s.Eight[p] = r.place, margins[k], rounded[k]
		copy(r.s.Images.Row(p), w.adv.Row(k))
		m.Broken++
	}
	return nil
}

// eight reports which of the images of w stay broken when their pixels are rounded to 8
// bits within the ball.
func (r *runner) eight(w *batch) []bool {
	x := w.adv.Clone()
	for k := range x.Rows() {
		r.o.round(w.x.Row(k), x.Row(k))
	}
	r.field.aim(w.items)
	r.field.find(r.embed(r.model, x), r.field.depth())
	out := make([]bool, x.Rows())
	for k := range out {
		out[k] = beaten(r.field, k)
	}
	return out
}

// halvings is how often nearer halves the way.
const halvings = 8

// nearer returns the norm of the smallest perturbation that breaks each query of w on the
// way from the clean image to the one found, by bisection: a bound for smaller balls.
func (r *runner) nearer(w *batch) []float64 {
	low, high, out := make([]float64, len(w.items)), slices.Repeat([]float64{1}, len(w.items)), make([]float64, len(w.items))
	x := w.adv.Clone()
	r.field.aim(w.items)
	for k := range out {
		out[k] = r.o.apart(w.adv.Row(k), w.x.Row(k))
	}
	for range halvings {
		for k := range out {
			t, x0, to, row := (low[k]+high[k])/2, w.x.Row(k), w.adv.Row(k), x.Row(k)
			for j, c := range x0 {
				row[j] = float32(float64(c) + float64(t*(float64(to[j])-float64(c))))
			}
		}
		r.field.find(r.embed(r.model, x), r.field.depth())
		for k := range out {
			t := (low[k] + high[k]) / 2
			if !beaten(r.field, k) {
				low[k] = t
				continue
			}
			high[k], out[k] = t, r.o.apart(x.Row(k), w.x.Row(k))
		}
	}
	for k, v := range out {
		out[k] = float64(float32(v))
	}
	return out
}

// round rounds the pixels of x to multiples of 1/255 without leaving the ball around x0: in
// the maximum norm to the nearest one inside, else towards x0.
func (o *Options) round(x0, x []float32) {
	const tiny = 1e-4 // of a level: pixels of 8 bits are not exact in float32
	for k, v := range x {
		level, clean := float64(255*float64(v)), float64(255*float64(x0[k]))
		switch {
		case o.Norm == adversary.Linf:
			least, most := math.Ceil(clean-float64(255*o.Eps)-tiny), math.Floor(clean+float64(255*o.Eps)+tiny)
			level = max(least, min(most, math.Round(level)))
			if least > most {
				level = math.Round(clean)
			}
		case level > clean:
			level = math.Floor(level + tiny)
		default:
			level = math.Ceil(level - tiny)
		}
		x[k] = float32(max(0, min(255, level)) / 255)
	}
}
