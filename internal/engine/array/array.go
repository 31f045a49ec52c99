package array

import (
	"errors"
	"fmt"
	"slices"
	"tercet/internal/engine/pages"
)

// ErrShape is wrapped by every error about a shape that does not fit.
var ErrShape = errors.New("shape mismatch")

// Array is a contiguous row-major float32 array: len(Data) is the product of
// Shape. The first axis is the batch (B or N) wherever there is one; images are
// NHWC.
type Array struct {
	Data  []float32
	Shape []int
}

// New returns a zeroed array. It panics on a negative extent or on a product
// that does not fit in an int: shapes from files are checked by their readers.
func New(shape ...int) *Array {
	return &Array{Data: pages.Make[float32](Size(shape)), Shape: slices.Clone(shape)}
}

// Of wraps data without copying; len(data) must be the product of shape.
func Of(data []float32, shape ...int) (*Array, error) {
	if n := Size(shape); n != len(data) {
		return nil, fmt.Errorf("%w: shape %v needs %d numbers, got %d", ErrShape, shape, n, len(data))
	}
	return &Array{Data: data, Shape: slices.Clone(shape)}, nil
}

// Size returns the product of shape; it panics as New does.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		if d < 0 || (d > 0 && n > int(^uint(0)>>1)/d) {
			panic(fmt.Sprintf("array: shape %v", shape))
		}
		n *= d
	}
	return n
}

// Rows returns the extent of the first axis: B.
func (a *Array) Rows() int { return a.Shape[0] }

// Cols returns the number of elements of one row: D for a (B, D) array, H*W*C
// for images.
func (a *Array) Cols() int { return Size(a.Shape[1:]) }

// Row returns row i, sharing storage.
func (a *Array) Row(i int) []float32 {
	c := a.Cols()
	return a.Data[i*c : (i+1)*c : (i+1)*c]
}

// Slice returns rows [lo, hi) as an array that shares storage. It allocates a
// header.
func (a *Array) Slice(lo, hi int) *Array {
	c := a.Cols()
	shape := slices.Clone(a.Shape)
	shape[0] = hi - lo
	return &Array{Data: a.Data[lo*c : hi*c : hi*c], Shape: shape}
}

// SetRows makes a hold n rows of the same row shape, reusing storage where it
// is large enough; the content is then undefined. It allocates only when n
// exceeds every earlier n.
func (a *Array) SetRows(n int) {
	size := n * a.Cols()
	if cap(a.Data) < size {
		a.Data = pages.Make[float32](size)
	}
	a.Data = a.Data[:size]
	a.Shape[0] = n
}

// Clone returns a copy.
func (a *Array) Clone() *Array {
	b := New(a.Shape...)
	copy(b.Data, a.Data)
	return b
}

// Zero sets all elements to 0.
func (a *Array) Zero() { clear(a.Data) }

// SameShape returns an error wrapping ErrShape, naming what, unless a has the
// given shape; -1 stands for any extent.
func (a *Array) SameShape(what string, shape ...int) error {
	ok := len(a.Shape) == len(shape)
	for i := 0; ok && i < len(shape); i++ {
		ok = shape[i] < 0 || shape[i] == a.Shape[i]
	}
	if !ok {
		return fmt.Errorf("%w: %s is %v, want %v", ErrShape, what, a.Shape, shape)
	}
	return nil
}
