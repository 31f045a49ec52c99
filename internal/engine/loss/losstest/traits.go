package losstest

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// traits compares what the options say of the loss with its values.
func (c problem) traits(t testing.TB) {
	t.Helper()
	l := c.build(t)
	if m := l.Margin(); math.IsNaN(m) || math.IsInf(m, 0) {
		c.fail(t, "margin %v", m)
	}
	if r := c.eval(t, l, c.z, nil); r.Active < 0 || r.Active > r.Tuples {
		c.fail(t, "%d of %d tuples are active", r.Active, r.Tuples)
	}
	if o, ok := c.o.(loss.Bordered); ok {
		alpha, beta := o.Borders()
		th, ok := l.(loss.Thresholder)
		if !ok || !near(th.Threshold()*th.Threshold(), (alpha+beta)/2, 1e-12) {
			c.fail(t, "borders %v and %v without their threshold", alpha, beta)
		}
	}
	if p, ok := c.o.(loss.PairPredictor); ok {
		if th, ok := l.(loss.Thresholder); ok && (p.PairRule().Cosine || th.Threshold() != p.PairRule().At) {
			c.fail(t, "threshold %v, but pairs are %s", th.Threshold(), p.PairRule())
		}
	} else if c.o.Takes() == loss.Pairs {
		c.fail(t, "it takes given pairs, and says of none whether it is similar")
	}
	if s, ok := c.o.(loss.Switchable); ok {
		if _, value, ok := s.For(c.o.Takes()); !ok || value == "" {
			c.fail(t, "no key for the tuples that it takes")
		}
	}
	if o, ok := c.o.(loss.Decomposable); ok {
		c.decomposes(t, o.Summed())
	}
	if o, ok := c.o.(loss.Bounded); ok {
		c.bounded(t, o)
	}
}

// decomposes requires that the terms of single tuples add up.
func (c problem) decomposes(t testing.TB, summed loss.Options) {
	t.Helper()
	c.o = summed
	l := c.build(t)
	want, sum := c.eval(t, l, c.z, nil).Loss, 0.0
	one := c
	for i := range c.tuples.Triplets {
		one.tuples.Triplets = c.tuples.Triplets[i : i+1]
		sum += one.eval(t, l, c.z, nil).Loss
	}
	for i := range c.tuples.Pairs {
		one.tuples.Pairs = c.tuples.Pairs[i : i+1]
		sum += one.eval(t, l, c.z, nil).Loss
	}
	if !near(sum, want, 1e-10) {
		c.fail(t, "the sum is %v, its terms add up to %v", want, sum)
	}
}

// bounded requires that no triplet, or no two pairs of one, costs more than the
// supremum, and that the worst one comes near it: a supremum is no mere bound.
func (c problem) bounded(t testing.TB, o loss.Bounded) {
	t.Helper()
	limit, ok := o.Supremum(true)
	d, decomposes := c.o.(loss.Decomposable)
	if !ok || !decomposes {
		return
	}
	c.o = d.Summed()
	l := c.build(t)
	z := array.New(3, 2)
	one := problem{o: c.o, name: "unit circle", tuples: of(c.o.Takes(), loss.Tuples{
		Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}, Pairs: []loss.Pair{{I: 0, J: 1, Similar: true}, {I: 0, J: 2}},
	})}
	r, largest := rng.New(5, "losstest"), 0.0
	for i := range 300 {
		angles := [3]float64{0, 2 * math.Pi * r.Float64(), 2 * math.Pi * r.Float64()}
		if i == 0 {
			angles = [3]float64{0, math.Pi, 0} // the farthest positive, the nearest negative
		}
		for k, a := range angles {
			z.Row(k)[0], z.Row(k)[1] = float32(math.Cos(a)), float32(math.Sin(a))
		}
		largest = max(largest, one.eval(t, l, z, nil).Loss)
	}
	if largest > limit*(1+1e-5) || largest < 0.99*limit {
		c.fail(t, "the largest value on the unit circle is %v, the supremum is said to be %v", largest, limit)
	}
}
