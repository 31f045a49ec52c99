package kernel

import (
	"math"

	"tercet/internal/par"
)

//go:generate go run -C _generate ./vector -family reduce -out ../reduce_amd64.s -go ../reduce_stubs.go -pkg kernel

// sumChunk is the number of elements of one partial sum. It is fixed: the bits
// of a sum depend on the slice alone.
const sumChunk = 1 << 15

type sumJob struct {
	level Level
	x     []float32
	kind  sumKind
	parts []float64
}

type sumKind uint8

const (
	sumOf sumKind = iota
	sumOfSquares
	largest
)

var sumJobs par.Free[sumJob]

// Sum returns the sum of x, in float64: partial sums of fixed extent, each in 32
// interleaved ones, the same on all levels.
func Sum(x []float32) float64 { return sum(x, sumOf) }

// SumSquares returns the sum of the squares of x, in float64 as Sum.
func SumSquares(x []float32) float64 { return sum(x, sumOfSquares) }

// MaxAbs returns the largest magnitude in x, 0 for none, and NaN where x holds
// a NaN.
func MaxAbs(x []float32) float32 { return float32(sum(x, largest)) }

func sum(x []float32, kind sumKind) float64 {
	if len(x) <= sumChunk {
		return part(Current(), x, kind)
	}
	j := sumJobs.Get()
	n := ceilDiv(len(x), sumChunk)
	if cap(j.parts) < n {
		j.parts = make([]float64, n)
	}
	j.level, j.x, j.kind, j.parts = Current(), x, kind, j.parts[:n]
	par.Do(n, 1, j)
	var s float64
	for _, p := range j.parts {
		if kind == largest {
			s = max(s, p)
		} else {
			s += p
		}
	}
	j.x = nil
	sumJobs.Put(j)
	return s
}

// Run takes parts [lo, hi).
func (j *sumJob) Run(lo, hi int) {
	for c := lo; c < hi; c++ {
		j.parts[c] = part(j.level, j.x[c*sumChunk:min((c+1)*sumChunk, len(j.x))], j.kind)
	}
}

func part(l Level, x []float32, kind sumKind) float64 {
	switch kind {
	case sumOf:
		return l.sum(x)
	case sumOfSquares:
		return l.dot(x, x)
	}
	return float64(l.maxAbs(x))
}

// AllFinite returns -1 and true where x holds neither NaN nor infinity, else the
// index of the first one and false.
func AllFinite(x []float32) (index int, ok bool) {
	if m := MaxAbs(x); m-m == 0 {
		return -1, true
	}
	const exponent = 0xff << 23
	for i, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return i, false
		}
	}
	return -1, true
}
