package glyphs

import "math/bits"

// All geometry and all pixel arithmetic of this package is on integers, in
// fixed point with 16 fractional bits unless a name says otherwise: no compiler
// may fuse, reorder or round it differently, so that a seed gives the same
// bytes on every machine.

const one = 1 << 16 // 1.0

// mul returns a*b rounded to nearest, halves up.
func mul(a, b int64) int64 { return (a*b + one/2) >> 16 }

// div returns a/b truncated towards zero; b must not be 0.
func div(a, b int64) int64 { return (a << 16) / b }

// isqrt returns the largest r with r*r <= v.
func isqrt(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	r := uint64(1) << ((bits.Len64(v) + 1) / 2) // not below the root
	for {
		s := (r + v/r) / 2
		if s >= r {
			return r
		}
		r = s
	}
}

// sincos returns the sine and cosine of an angle in radians within [-pi, pi],
// by Taylor's series after halving the angle twice; the error is below 2^-14.
func sincos(a int64) (sin, cos int64) {
	x := a / 4
	x2 := mul(x, x)
	s := mul(x, one-mul(x2, one-mul(x2, one-x2/42)/20)/6)
	c := one - mul(x2, one-mul(x2, one-x2/30)/12)/2
	for range 2 { // double angle
		s, c = 2*mul(s, c), one-2*mul(s, s)
	}
	return s, c
}

// source is what drawing needs of a random stream. Only raw words are used:
// the derived methods of math/rand/v2 differ between word sizes, and its
// normal numbers call math.Exp.
type source interface{ Uint64() uint64 }

// pick returns an index in [0, n).
func pick(r source, n int) int {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func between(r source, lo, hi int64) int64 {
	if hi <= lo {
		r.Uint64() // every image uses the same number of words per step
		return lo
	}
	return lo + int64(pick(r, int(hi-lo)+1))
}

// spread returns a number in [-a, a].
func spread(r source, a int64) int64 { return between(r, -a, a) }

// normal returns a nearly normal number with mean 0 and deviation 1: the sum of
// eight uniform bytes (Irwin-Hall), scaled.
func normal(r source) int64 {
	u := r.Uint64()
	sum := int64(0)
	for range 8 {
		sum += int64(u & 255)
		u >>= 8
	}
	// The sum has mean 1020 and variance 8*(256^2-1)/12 = 43690, whose root is 209.02.
	return (sum - 1020) * one * 100 / 20902
}
