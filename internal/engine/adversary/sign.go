package adversary

import (
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// signBlock is the number of pixels that one piece of a sign step covers.
const signBlock = 1 << 14

// signSteps moves all images of a run by one sign step in the L-infinity ball, in
// pieces that do not depend on the number of threads: step, projection and clipping
// in one pass over the pixels.
type signSteps struct {
	c      *crafting
	pieces int   // of an image
	bad    []int // (B * pieces) as crafting.bad
	zero   []bool
}

// run reports whether the steps of c are of this kind, after doing one.
func (s *signSteps) run(c *crafting) bool {
	if p := c.p; p.Norm != Linf || p.Direction != Sign || p.Rule != Fixed || c.track {
		return false
	}
	images, pixels := c.x.Shape[0], len(c.x.Data)/c.x.Shape[0]
	s.c, s.pieces = c, (pixels+signBlock-1)/signBlock
	s.bad, s.zero = grow(s.bad, images*s.pieces), grow(s.zero, images*s.pieces)
	par.Do(images*s.pieces, max(1, signBlock/pixels), s)
	for i := range images {
		c.bad[i] = -1
		still := true
		for j := i * s.pieces; j < (i+1)*s.pieces; j++ {
			still = still && s.zero[j]
			if c.bad[i] < 0 {
				c.bad[i] = s.bad[j]
			}
		}
		if still {
			c.zero[i]++
		}
	}
	return true
}

// Run does pieces [lo, hi).
func (s *signSteps) Run(lo, hi int) {
	c := s.c
	pixels := len(c.x.Data) / c.x.Shape[0]
	step, eps := float32(c.p.length()), float32(c.p.Eps)
	for j := lo; j < hi; j++ {
		at := j % s.pieces * signBlock
		from := j/s.pieces*pixels + at
		to := from + min(signBlock, pixels-at)
		g := c.dx.Data[from:to]
		largest := kernel.MaxAbs(g)
		s.zero[j] = largest == 0
		if s.bad[j] = firstNonFinite(g, largest); s.bad[j] >= 0 {
			s.bad[j] += at
			continue
		}
		if largest > 0 {
			kernel.SignStep(c.x.Data[from:to], g, c.x0.Data[from:to], step, eps, 0, 1)
		}
	}
}

// firstNonFinite returns the index of the first NaN or infinity in g, or -1;
// largest is the largest magnitude in g, NaN where there is one.
func firstNonFinite(g []float32, largest float32) int {
	if largest-largest == 0 {
		return -1
	}
	i, _ := kernel.AllFinite(g)
	return i
}
