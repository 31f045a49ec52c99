package kernel

import (
	"math"
	"unsafe"
)

// tilesBF16Generic is tilesBF16 in plain Go, with its bits but those of NaN.
func tilesBF16Generic(t *tilesArgs) {
	t.eachNumber(func(a, b, c unsafe.Pointer) {
		s := float32(0)
		if t.add {
			s = flush(*(*float32)(c))
		}
		for o := range t.runs * t.steps {
			x := (*[32]uint16)(unsafe.Add(a, o*t.nexta+o/t.steps*t.skip))
			var chains [2]float32
			for r := range 16 {
				y := (*[2]uint16)(unsafe.Add(b, (o*16+r)*128))
				for p := range chains {
					chains[p] = fmaFlush(bf16Value(x[2*r+p]), bf16Value(y[p]), chains[p])
				}
			}
			s = addFlush(s, addFlush(chains[0], chains[1]))
		}
		*(*float32)(c) = s
	})
}

// tilesBytesGeneric is tilesBytes in plain Go.
func tilesBytesGeneric(t *tilesArgs) {
	t.eachNumber(func(a, b, c unsafe.Pointer) {
		s := int32(0)
		if t.add {
			s = *(*int32)(c)
		}
		for o := range t.runs * t.steps {
			x := (*[64]int8)(unsafe.Add(a, o*t.nexta+o/t.steps*t.skip))
			for r := range 16 {
				y := (*[4]int8)(unsafe.Add(b, (o*16+r)*128))
				for q, v := range y {
					s += int32(x[4*r+q]) * int32(v)
				}
			}
		}
		*(*int32)(c) = s
	})
}

// eachNumber calls f with A's row, B's column and the place of each number of C.
func (t *tilesArgs) eachNumber(f func(a, b, c unsafe.Pointer)) {
	t.complete()
	for v := range t.panels {
		for i := range 32 * t.strips {
			row := unsafe.Add(unsafe.Pointer(t.a), i/32*t.stripa+i%32/16*t.below+i%16*t.rsa)
			for j := range 32 {
				f(row, unsafe.Add(unsafe.Pointer(t.b), v*t.panelb+4*j), unsafe.Add(unsafe.Pointer(t.c), i*t.ldc+4*(32*v+j)))
			}
		}
	}
}

// bf16Value is the number that the upper half of a float32 is, where the tiles do not count
// it as 0.
func bf16Value(x uint16) float32 { return flush(math.Float32frombits(uint32(x) << 16)) }

// flush is x, or a zero of its sign where x is below the normal numbers.
func flush(x float32) float32 {
	if x < 0x1p-126 && x > -0x1p-126 {
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
	if x < 0x1p-125 && x > -0x1p-125 && float32(max(x, -x)*0x1p100) < 0x1p-26 {
		return float32(math.Copysign(0, x))
	}
	return float32(x)
}
