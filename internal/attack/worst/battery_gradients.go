package worst

import (
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

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
	b.look(w, x)
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
	z := b.look(w, x)
	dz := array.New(z.Rows(), z.Cols())
	for i := range w.items {
		if len(b.field.right(i)) > 0 && len(b.field.wrong(i)) > 0 {
			marginLoss{}.at(b.field, i, nil, dz.Row(i))
		}
	}
	return b.model.Backward(dz, nn.Input).Clone()
}
