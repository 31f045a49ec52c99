package cluster

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// ErrInput is wrapped by every error about data that cannot be clustered or
// projected.
var ErrInput = errors.New("cannot cluster")

// checkRows verifies that x is (n, d) and finite.
func checkRows(x []float32, n, d int) error {
	switch {
	case n < 1:
		return fmt.Errorf("%w: no rows", ErrInput)
	case d < 1:
		return fmt.Errorf("%w: rows have %d dimensions", ErrInput, d)
	case n > math.MaxInt32:
		return fmt.Errorf("%w: %d rows are more than %d", ErrInput, n, math.MaxInt32)
	case len(x)/d != n || len(x)%d != 0:
		return fmt.Errorf("%w: %d rows of %d dimensions want %d numbers, got %d", ErrInput, n, d, n*d, len(x))
	}
	if i, ok := kernel.AllFinite(x); !ok {
		return fmt.Errorf("%w: row %d column %d is %v: drop the row or look for divergence in training", ErrInput, i/d, i%d, x[i])
	}
	return nil
}

// centred is data moved to mean zero and multiplied by a power of two, so that
// products of float32 keep their digits whatever the data's offset and unit.
type centred struct {
	n, d     int
	x        []float32 // (n, d): scale*(data - mean)
	mean     []float64 // of the data
	scale    float64   // a power of two
	variance float64   // mean over features of the variance of x
}

func centre(x []float32, n, d int) *centred {
	c := &centred{n: n, d: d, x: make([]float32, n*d), mean: make([]float64, d)}
	par.For(d, sumChunk, func(lo, hi int) {
		for i := range n {
			kernel.AddRow(c.mean[lo:hi], x[i*d+lo:i*d+hi])
		}
		for j := lo; j < hi; j++ {
			c.mean[j] /= float64(n)
		}
	})
	c.scale = 1
	if most := 2 * float64(kernel.MaxAbs(x)); most > 0 { // no difference from the mean is larger
		_, e := math.Frexp(most)
		c.scale = math.Ldexp(1, -e)
	}
	par.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			kernel.ShiftRow(x[i*d:(i+1)*d], c.mean, c.scale, c.x[i*d:(i+1)*d])
		}
	})
	c.variance = kernel.SumSquares(c.x) / float64(n) / float64(d)
	return c
}

func (c *centred) row(i int) []float32 { return c.x[i*c.d : (i+1)*c.d] }
