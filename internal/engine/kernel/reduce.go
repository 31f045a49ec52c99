package kernel

import (
	"math"

	"tercet/internal/par"
)

// sumChunk is the number of elements of one partial sum. It is fixed: the bits
// of a sum depend on the slice alone.
const sumChunk = 1 << 15

type sumJob struct {
	x       []float32
	squares bool
	parts   []float64
}

var sumJobs par.Free[sumJob]

// Sum returns the sum of x, in float64 partial sums of fixed extent.
func Sum(x []float32) float64 { return sum(x, false) }

// SumSquares returns the sum of the squares of x, in float64 partial sums of
// fixed extent.
func SumSquares(x []float32) float64 { return sum(x, true) }

func sum(x []float32, squares bool) float64 {
	j := sumJobs.Get()
	n := ceilDiv(len(x), sumChunk)
	if cap(j.parts) < n {
		j.parts = make([]float64, n)
	}
	j.x, j.squares, j.parts = x, squares, j.parts[:n]
	par.Do(n, 1, j)
	var s float64
	for _, p := range j.parts {
		s += p
	}
	j.x = nil
	sumJobs.Put(j)
	return s
}

// Run takes partial sums [lo, hi), each in four interleaved ones.
func (j *sumJob) Run(lo, hi int) {
	for c := lo; c < hi; c++ {
		x := j.x[c*sumChunk : min((c+1)*sumChunk, len(j.x))]
		var s [4]float64
		i := 0
		if j.squares {
			for ; i+4 <= len(x); i += 4 {
				q := (*[4]float32)(x[i:])
				a, b, c, d := float64(q[0]), float64(q[1]), float64(q[2]), float64(q[3])
				s[0] += a * a
				s[1] += b * b
				s[2] += c * c
				s[3] += d * d
			}
			for ; i < len(x); i++ {
				s[0] += float64(x[i]) * float64(x[i])
			}
		} else {
			for ; i+4 <= len(x); i += 4 {
				q := (*[4]float32)(x[i:])
				s[0] += float64(q[0])
				s[1] += float64(q[1])
				s[2] += float64(q[2])
				s[3] += float64(q[3])
			}
			for ; i < len(x); i++ {
				s[0] += float64(x[i])
			}
		}
		j.parts[c] = s[0] + s[1] + s[2] + s[3]
	}
}

// MaxAbs returns the largest magnitude in x, 0 for none, and NaN where x holds
// a NaN.
func MaxAbs(x []float32) float32 {
	// Without the sign, the bits of a larger magnitude are the larger integer,
	// and those of a NaN are larger than all.
	var m uint32
	for _, v := range x {
		m = max(m, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(m)
}

// AllFinite returns -1 and true where x holds neither NaN nor infinity, else the
// index of the first one and false.
func AllFinite(x []float32) (index int, ok bool) {
	const exponent = 0xff << 23
	for i, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return i, false
		}
	}
	return -1, true
}
