package adversary

import (
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// crafting is the state of one Run. Its buffers are kept for the next one.
type crafting struct {
	p      *PGD
	x0     *array.Array
	out    *array.Array
	report Report

	x        *array.Array // iterate; out itself where one run's last iterate is the result
	scratch  *array.Array // x of other runs
	dz       *array.Array // (B, D)
	per      []float64    // objective of x
	track    bool         // best point wanted
	best     []float64    // of this restart
	bestX    *array.Array
	bestZ    *array.Array
	lastZ    *array.Array // embeddings of the last iterate
	previous *array.Array // of the one before
	auto     autoStep

	// arguments of Run(lo, hi), one step of every image
	t    int
	z    *array.Array
	dx   *array.Array
	bad  []int // element of the first non-finite gradient entry, or -1
	zero []int // zero gradients seen
	sign signSteps
	far  radiusJob

	streams []rng.Stream
}

func (c *crafting) prepare(p *PGD, x0, out *array.Array, dim int) {
	b := x0.Shape[0]
	c.p, c.x0, c.out = p, x0, out
	c.track = p.Keep == Best || p.Rule == Auto
	if c.x = out; p.Keep == Best || p.Rule == Auto || p.Restarts > 1 {
		c.scratch = fit(c.scratch, x0)
		c.x = c.scratch
	}
	c.dz = fitMatrix(c.dz, b, dim)
	c.per, c.best = grow(c.per, b), grow(c.best, b)
	c.bad, c.zero, c.streams = grow(c.bad, b), grow(c.zero, b), grow(c.streams, b)
	clear(c.zero)
	if c.track {
		c.bestX = fit(c.bestX, x0)
		c.bestZ = fitMatrix(c.bestZ, b, dim)
	}
	if !p.SkipFinal {
		c.lastZ = fitMatrix(c.lastZ, b, dim)
	}
	if p.KeepPrevious {
		c.previous = fitMatrix(c.previous, b, dim)
	}
	if p.Rule == Auto {
		c.auto.prepare(x0)
	}
	r := &c.report
	r.Forward, r.Backward = 0, 0
	r.Objective, r.Linf, r.L2 = grow(r.Objective, b), grow(r.Linf, b), grow(r.L2, b)
	if p.SkipFinal {
		r.Embedding = nil
	} else {
		r.Embedding = fitMatrix(r.Embedding, b, dim)
	}
	if p.KeepPrevious {
		r.Previous = fitMatrix(r.Previous, b, dim)
	} else {
		r.Previous = nil
	}
}

// begin sets the first iterate of a restart.
func (c *crafting) begin(ids []uint64, seed uint64, restart int) {
	copy(c.x.Data, c.x0.Data)
	switch {
	case c.p.FromOut:
		copy(c.x.Data, c.out.Data)
	case restart > 0 || c.p.Start == FromRandom:
		for i := range c.streams {
			c.streams[i].Reset(seed, "pgd", ids[i], uint64(restart))
			c.p.randomStart(c.x.Row(i), c.x0.Row(i), &c.streams[i])
		}
	}
	if c.p.Rule == Auto {
		c.auto.begin(c.p)
	}
}

func (c *crafting) checkObjective(t int) error {
	for i, v := range c.per {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &ImageError{i, fmt.Errorf("pgd: %w: the objective of image %d is %v at step %d; the model's weights or its embedding of that image are not finite", ErrNonFinite, i, v, t)}
		}
	}
	return nil
}

// advance records iterate t, whose embeddings are z, and moves every image along
// its gradient dx.
func (c *crafting) advance(t int, z, dx *array.Array) error {
	c.t, c.z, c.dx = t, z, dx
	if c.p.Rule == Auto {
		c.auto.tick(t)
	}
	if !c.sign.run(c) {
		par.Do(c.x.Shape[0], 1, c)
	}
	for i, k := range c.bad {
		if k >= 0 {
			return &ImageError{i, fmt.Errorf("pgd: %w: the input gradient of image %d is %v in element %d at step %d; the model's weights or activations are not finite", ErrNonFinite, i, dx.Row(i)[k], k, t)}
		}
	}
	return nil
}

// Run advances images [lo, hi).
func (c *crafting) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, x0, g := c.x.Row(i), c.x0.Row(i), c.dx.Row(i)
		largest := kernel.MaxAbs(g)
		c.bad[i] = firstNonFinite(g, largest)
		if c.bad[i] >= 0 {
			continue
		}
		if largest == 0 {
			c.zero[i]++
		}
		better := c.track && c.record(i, c.z)
		if c.p.Rule == Auto {
			c.auto.advance(c, i, g, better)
			continue
		}
		if c.p.Norm == Linf && c.p.Direction == Sign {
			kernel.SignStep(x, g, x0, float32(c.p.length()), float32(c.p.Eps), 0, 1)
			continue
		}
		c.p.descend(x, g, c.p.length())
		c.p.project(x, x0)
	}
}

// record makes the iterate of image i its best one if it is, and says so.
func (c *crafting) record(i int, z *array.Array) bool {
	if c.t > 0 && !(c.per[i] < c.best[i]) {
		return false
	}
	c.best[i] = c.per[i]
	copy(c.bestX.Row(i), c.x.Row(i))
	copy(c.bestZ.Row(i), z.Row(i))
	return true
}

// settle records iterate t, the last one.
func (c *crafting) settle(t int, z *array.Array) {
	copy(c.lastZ.Data, z.Data)
	c.t = t
	if c.track {
		for i := range c.per {
			c.record(i, z)
		}
	}
}

// merge keeps, for each image, the result of the restart if it is the first or
// better than the earlier ones.
func (c *crafting) merge(restart int) {
	objective, x, z := c.per, c.x, c.lastZ
	if c.p.Keep == Best {
		objective, x, z = c.best, c.bestX, c.bestZ
	}
	r := &c.report
	for i, v := range objective {
		if restart > 0 && !(v < r.Objective[i]) {
			continue
		}
		r.Objective[i] = v
		if x != c.out {
			copy(c.out.Row(i), x.Row(i))
		}
		if r.Embedding != nil {
			copy(r.Embedding.Row(i), z.Row(i))
		}
		if r.Previous != nil {
			copy(r.Previous.Row(i), c.previous.Row(i))
		}
	}
}

func (c *crafting) summarize() {
	r := &c.report
	zero := 0
	for _, n := range c.zero {
		zero += n
	}
	r.ZeroGradient = float64(zero) / float64(len(c.zero)*r.Backward)
	r.Radius = c.measure()
}

// measure measures the perturbations of out.
func (c *crafting) measure() record.Radius {
	c.far.c = c
	par.Do(c.out.Shape[0], 1, &c.far)
	return RadiusOf(c.report.Linf, c.report.L2)
}

type radiusJob struct{ c *crafting }

// Run measures the perturbations of images [lo, hi).
func (j *radiusJob) Run(lo, hi int) {
	c := j.c
	for i := lo; i < hi; i++ {
		c.report.Linf[i], c.report.L2[i] = distances(c.out.Row(i), c.x0.Row(i))
	}
}

// grow returns s with length n, reusing its storage where it suffices.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// fit returns an array of the shape of like, a itself where its rows fit.
func fit(a, like *array.Array) *array.Array {
	if a == nil || !slices.Equal(a.Shape[1:], like.Shape[1:]) {
		return &array.Array{Data: pages.Make[float32](len(like.Data)), Shape: slices.Clone(like.Shape)}
	}
	a.SetRows(like.Shape[0])
	return a
}

func fitMatrix(a *array.Array, rows, cols int) *array.Array {
	if a == nil || a.Shape[1] != cols {
		return array.New(rows, cols)
	}
	a.SetRows(rows)
	return a
}
