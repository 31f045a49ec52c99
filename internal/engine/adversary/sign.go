package adversary

import (
	"math"

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
		largest := largestBits(g)
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

// largestBits returns twice the bits of the largest magnitude in g: 0 if all are
// zero, infinite or more if one is not finite.
func largestBits(g []float32) uint32 {
	var a, b, c, d uint32
	for len(g) >= 4 {
		a = max(a, math.Float32bits(g[0])<<1)
		b = max(b, math.Float32bits(g[1])<<1)
		c = max(c, math.Float32bits(g[2])<<1)
		d = max(d, math.Float32bits(g[3])<<1)
		g = g[4:]
	}
	for _, v := range g {
		a = max(a, math.Float32bits(v)<<1)
	}
	return max(a, b, c, d)
}

// infinite is what largestBits gives for an infinity.
const infinite = 0xff << 24

// firstNonFinite returns the index of the first NaN or infinity in g, or -1;
// largest is largestBits(g).
func firstNonFinite(g []float32, largest uint32) int {
	if largest < infinite {
		return -1
	}
	for k, v := range g {
		if math.Float32bits(v)<<1 >= infinite {
			return k
		}
	}
	return -1
}
