package cluster

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// ErrInput is wrapped by every error about data that cannot be clustered or
// projected.
var ErrInput = errors.New("cannot cluster")

// frame is the place and unit in which rows are computed with: (row - mean) *
// scale, or, where unit, the row divided by its length.
type frame struct {
	d     int
	mean  []float64 // of the data; 0 where unit
	scale float64   // a power of two, so that products of float32 keep their digits; 1 where unit
	unit  bool
}

// frameOf returns the frame that moves the n rows of x to mean zero.
func frameOf(x []float32, n, d int) frame {
	f := frame{d: d, mean: make([]float64, d), scale: 1}
	par.For(d, sumChunk, func(lo, hi int) {
		for i := range n {
			kernel.AddRow(f.mean[lo:hi], x[i*d+lo:i*d+hi])
		}
		for j := lo; j < hi; j++ {
			f.mean[j] /= float64(n)
		}
	})
	if most := 2 * float64(kernel.MaxAbs(x)); most > 0 { // no difference from the mean is larger
		_, e := math.Frexp(most)
		f.scale = math.Ldexp(1, -e)
	}
	return f
}

// load sets out to a row of the data in the frame.
func (f *frame) load(row, out []float32) {
	if !f.unit {
		kernel.ShiftRow(row, f.mean, f.scale, out)
		return
	}
	kernel.ShiftRow(row, f.mean, 1/math.Sqrt(kernel.SumSquares(row)), out)
}

// centered is data in a frame.
type centered struct {
	frame
	n        int
	x        []float32 // (n, d)
	variance float64   // mean over features of the variance of x
	square   float64   // mean over rows of ||x||^2
}

func center(x []float32, n, d int) *centered { return frameOf(x, n, d).all(x, n) }

// all returns the n rows of x in the frame.
func (f frame) all(x []float32, n int) *centered { return f.into(pages.Make[float32](len(x)), x, n) }

// into is all with its rows in room, of as many numbers, which may be x.
func (f frame) into(room, x []float32, n int) *centered {
	d := f.d
	c := &centered{frame: f, n: n, x: room}
	par.Each(n, 64, func(i int) {
		f.load(x[i*d:(i+1)*d], c.x[i*d:(i+1)*d])
	})
	c.square = kernel.SumSquares(c.x) / float64(n)
	c.variance = c.square / float64(d)
	if f.unit {
		for _, v := range frameOf(c.x, n, d).mean {
			c.variance -= v * v / float64(d)
		}
		c.variance = max(0, c.variance)
	}
	return c
}

func (c *centered) row(i int) []float32 { return c.x[i*c.d : (i+1)*c.d] }

// Centered is rows at mean zero, in a unit that keeps the digits of products of float32.
type Centered struct {
	N, D     int
	X        []float32 // (N, D): (row - Mean) * Scale
	Mean     []float64
	Scale    float64 // a power of two
	Variance float64 // mean over features of the variance of X
}

// Center returns the n rows of x, d numbers each, at mean zero.
func Center(x []float32, n, d int) *Centered {
	c := center(x, n, d)
	return &Centered{N: n, D: d, X: c.x, Mean: c.mean, Scale: c.scale, Variance: c.variance}
}

// Row is row i.
func (c *Centered) Row(i int) []float32 { return c.X[i*c.D : (i+1)*c.D] }

// unitFrame is the frame of the directions of the n rows of x.
func unitFrame(x []float32, n, d int) (frame, error) {
	for i := range n {
		if kernel.SumSquares(x[i*d:(i+1)*d]) == 0 {
			return frame{}, fmt.Errorf("%w: row %d is zero and has no direction: drop it, or do not use the spherical variant", ErrInput, i)
		}
	}
	return frame{d: d, mean: make([]float64, d), scale: 1, unit: true}, nil
}
