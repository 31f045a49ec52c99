package kernel

import (
	"math"
	"slices"
	"unsafe"

	"tercet/internal/par"
)

// tilesBF16Generic is tilesBF16 in plain Go, with its bits but those of NaN.
func tilesBF16Generic(t *tilesArgs) {
	w := wideBF16.Get()
	eachSum(t, w, 2, func(word unsafe.Pointer, to []float32) {
		pair := (*[2]uint16)(word)
		to[0], to[1] = bf16Value(pair[0]), bf16Value(pair[1])
	}, addChains)
	wideBF16.Put(w)
}

// addChains returns s and the products of x and y: in each step those of even and of odd
// numbers are chains of sums that begin at 0.
func addChains(s float32, x, y []float32) float32 {
	s = flush(s)
	for ; len(x) >= 32 && len(y) >= 32; x, y = x[32:], y[32:] {
		even, odd := float32(0), float32(0)
		for r := 0; r < 32; r += 2 {
			even = fmaFlush(x[r], y[r], even)
			odd = fmaFlush(x[r+1], y[r+1], odd)
		}
		s = addFlush(s, addFlush(even, odd))
	}
	return s
}

// tilesBytesGeneric is tilesBytes in plain Go.
func tilesBytesGeneric(t *tilesArgs) {
	w := wideBytes.Get()
	eachSum(t, w, 4, func(word unsafe.Pointer, to []int32) {
		for q, v := range (*[4]int8)(word) {
			to[q] = int32(v)
		}
	}, func(s int32, x, y []int32) int32 {
		for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
			s += x[0]*y[0] + x[1]*y[1] + x[2]*y[2] + x[3]*y[3]
		}
		return s
	})
	wideBytes.Put(w)
}

// wideTiles has the numbers of a row of A, and those of a panel of B, column by column.
type wideTiles[T any] struct{ row, columns []T }

var (
	wideBF16  par.Free[wideTiles[float32]]
	wideBytes par.Free[wideTiles[int32]]
)

// eachSum sets each number of C to sum(s, row of A, column of B), where s is that number
// itself if t.add, else 0. widen takes a word of 4 bytes apart, into per numbers.
func eachSum[T, S any](t *tilesArgs, w *wideTiles[T], per int, widen func(word unsafe.Pointer, to []T), sum func(s S, x, y []T) S) {
	t.complete()
	n := 16 * per * t.runs * t.steps
	w.row = slices.Grow(w.row[:0], n)[:n]
	w.columns = slices.Grow(w.columns[:0], 32*n)[:32*n]
	for v := range t.panels {
		b := unsafe.Add(unsafe.Pointer(t.b), v*t.panelb)
		for at := range 32 * n / per {
			widen(unsafe.Add(b, 4*at), w.columns[at%32*n+at/32*per:][:per])
		}
		for i := range 32 * t.strips {
			a := unsafe.Add(unsafe.Pointer(t.a), i/32*t.stripa+i%32/16*t.below+i%16*t.rsa)
			for at := range n / per {
				widen(unsafe.Add(a, at/16*t.nexta+at/16/t.steps*t.skip+at%16*4), w.row[at*per:][:per])
			}
			c := (*[32]S)(unsafe.Add(unsafe.Pointer(t.c), i*t.ldc+128*v))
			for j := range c {
				var s S
				if t.add {
					s = c[j]
				}
				c[j] = sum(s, w.row, w.columns[j*n:][:n])
			}
		}
	}
}

// bf16Value is the number that the upper half of a float32 is, where the tiles do not count
// it as 0.
func bf16Value(x uint16) float32 { return flush(math.Float32frombits(uint32(x) << 16)) }

// flush is x, or a zero of its sign where x is below the normal numbers.
func flush(x float32) float32 {
	if x < 0x1p-126 && x > -0x1p-126 && x != 0 {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

// fmaFlush is x*y + s, rounded once and flushed, for x and y of 8 bits: their product is
// exact in float64, and so is the sum, or it is no half of a float32's last place.
func fmaFlush(x, y, s float32) float32 {
	return roundFlush(float64(float64(x)*float64(y)) + float64(s))
}

func addFlush(x, y float32) float32 { return roundFlush(float64(x) + float64(y)) }

// roundFlush rounds to float32, and to a zero of its sign what would be below the normal
// numbers if it were rounded to 24 bits like them.
func roundFlush(x float64) float32 {
	if x < 0x1p-125 && x > -0x1p-125 && x != 0 && float32(max(x, -x)*0x1p100) < 0x1p-26 {
		return float32(math.Copysign(0, x))
	}
	return float32(x)
}
