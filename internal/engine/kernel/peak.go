package kernel

import (
	"fmt"
	"math"
	"sync/atomic"
)

// PeakFMA runs steps steps of independent multiply-adds on registers, on the
// calling goroutine, and returns the number of floating-point operations done:
// two for each multiply-add and lane. Their number over the seconds taken is
// what one thread can do at most at level l; a million steps take some
// milliseconds. It panics where the level is not available.
func PeakFMA(l Level, steps int) (flops float64) {
	for _, have := range available {
		if have == l {
			if steps < 1 {
				return 0
			}
			return l.peak(steps) * float64(steps)
		}
	}
	panic(fmt.Sprintf("kernel: level %v is not available", l))
}

// PeakBF16 is PeakFMA of dot products of bfloat16 with float32 sums, two multiply-adds a
// lane; 0 where the processor has no such instruction.
func PeakBF16(steps int) (flops float64) {
	if steps < 1 {
		return 0
	}
	return peakBF16(steps) * float64(steps)
}

// peakSink keeps the sums of peakGeneric alive, on all threads.
var peakSink atomic.Uint32

// peakGeneric multiplies and adds scalars, as level Generic does.
func peakGeneric(steps int) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	x := math.Float32frombits(peakSink.Load())
	y := x
	for range steps {
		s0 += float32(x * y)
		s1 += float32(x * y)
		s2 += float32(x * y)
		s3 += float32(x * y)
		s4 += float32(x * y)
		s5 += float32(x * y)
		s6 += float32(x * y)
		s7 += float32(x * y)
	}
	peakSink.Store(math.Float32bits(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7))
	return 8 * 2
}
