package kernel

import (
	"math"
	"unsafe"
)

// windowArgs are windows of two by two numbers and what stands for each: y is made of the
// windows in x, or the windows in y are made of x. Pixels are those of the windows, a strip
// is a row of them; strides are in bytes; channels is 16 or 32.
type windowArgs struct {
	strips, pixels, channels int
	x                        *float32
	xPixel, xStrip           int
	y                        *uint16
	yPixel, yStrip           int
	won                      *uint8 // places in the windows
	wonPixel, wonStrip       int

	// For unpoolBF16: from one pixel to the next in y, and from one row to the next.
	next, below int

	// For poolBF16.
	bias *float32
	relu bool
}

// each calls f with the places of each pixel.
func (t *windowArgs) each(f func(x, y, won unsafe.Pointer)) {
	for s := range t.strips {
		for p := range t.pixels {
			f(unsafe.Add(unsafe.Pointer(t.x), s*t.xStrip+p*t.xPixel),
				unsafe.Add(unsafe.Pointer(t.y), s*t.yStrip+p*t.yPixel),
				unsafe.Add(unsafe.Pointer(t.won), s*t.wonStrip+p*t.wonPixel))
		}
	}
}

// lost is what won has where ReLU made a window 0.
const lost = 4

// poolBF16 sets y to the largest number of each window plus bias, or to the larger of that and 0
// where relu, rounded to bfloat16; and won to its place in the window, of equal ones the
// first, or to lost where relu and the sum is at most 0. A NaN is larger than numbers. A
// strip of x is a block of a convolution's outputs: 32 rows of 32 numbers, of which rows 0 to
// 15 are pixels of one row of the image and rows 16 to 31 those below them.
func (l Level) poolBF16(t *windowArgs) {
	if assembly && l.avx512() {
		poolBF16AVX512(t)
		return
	}
	t.each(func(x, y, won unsafe.Pointer) {
		for c := range t.channels {
			most, place := float32(math.Inf(-1)), uint8(0)
			for q := range 4 {
				v := *(*float32)(unsafe.Add(x, q%2*128+q/2*16*128+4*c))
				if q == 0 || v > most || v != v {
					most, place = v, uint8(q)
				}
			}
			most += *(*float32)(unsafe.Add(unsafe.Pointer(t.bias), 4*c))
			if t.relu && most <= 0 {
				most, place = 0, lost
			}
			*(*uint16)(unsafe.Add(y, 2*c)) = roundedBF16(most)
			*(*uint8)(unsafe.Add(won, c)) = place
		}
	})
}

// unpoolBF16 sets the window of each x in y: to x, rounded to bfloat16, at the place won, and
// elsewhere to 0.
func (l Level) unpoolBF16(t *windowArgs) {
	if assembly && l.avx512() {
		unpoolBF16AVX512(t)
		return
	}
	t.each(func(x, y, won unsafe.Pointer) {
		for c := range t.channels {
			for q := range 4 {
				v := uint16(0)
				if *(*uint8)(unsafe.Add(won, c)) == uint8(q) {
					v = roundedBF16(*(*float32)(unsafe.Add(x, 4*c)))
				}
				*(*uint16)(unsafe.Add(y, q%2*t.next+q/2*t.below+2*c)) = v
			}
		}
	})
}

// The following compute what poolBF16 and unpoolBF16 say.

//go:noescape
func poolBF16AVX512(t *windowArgs)

//go:noescape
func unpoolBF16AVX512(t *windowArgs)
