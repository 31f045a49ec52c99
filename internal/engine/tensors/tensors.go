package tensors

import (
	"errors"
	"fmt"
	"slices"

	_ "go4.org/unsafe/assume-no-moving-gc" // the version that gorgonia asks for is too old for this Go and would panic at start
	"gorgonia.org/tensor"

	"tercet/internal/engine/array"
)

// Errors that FromDense wraps.
var (
	// ErrNotContiguous: a transposed, sliced, column-major or broadcast view
	// whose numbers do not lie in row-major order. gorgonia multiplies column
	// slices wrongly without an error, so they are refused.
	ErrNotContiguous = errors.New("tensor is not contiguous and row-major")
	// ErrDtype: not float32.
	ErrDtype = errors.New("tensor is not float32")
	// ErrMasked: a masked tensor; the mask would be lost.
	ErrMasked = errors.New("tensor is masked")
	// ErrNilTensor: no tensor.
	ErrNilTensor = errors.New("tensor is nil")
)

// Dense returns a gorgonia tensor of the same shape that shares storage. It
// panics where an extent is 0, which gorgonia has no tensor for, and where Data
// and Shape disagree.
func Dense(a *array.Array) *tensor.Dense {
	if n := array.Size(a.Shape); n == 0 || n != len(a.Data) {
		panic(fmt.Sprintf("tensors: no gorgonia tensor of shape %v over %d numbers", a.Shape, len(a.Data)))
	}
	return tensor.New(tensor.WithShape(slices.Clone(a.Shape)...), tensor.WithBacking(a.Data))
}

// FromDense returns an array that shares d's storage. It refuses what cannot be
// read as one row-major run of float32 by an error that wraps ErrDtype,
// ErrMasked or ErrNotContiguous; a slice of whole rows is such a run. To use a
// view, Materialize or Clone it first.
func FromDense(d *tensor.Dense) (*array.Array, error) {
	if d == nil {
		return nil, ErrNilTensor
	}
	if d.Dtype() != tensor.Float32 {
		return nil, fmt.Errorf("%w: it is %v", ErrDtype, d.Dtype())
	}
	if d.IsMasked() {
		return nil, fmt.Errorf("%w: shape %v", ErrMasked, d.Shape())
	}
	shape := slices.Clone([]int(d.Shape()))
	data := d.Float32s()
	if d.RequiresIterator() || d.DataOrder().IsColMajor() || array.Size(shape) != len(data) || !rowMajor(shape, d.Strides()) {
		return nil, fmt.Errorf("%w: shape %v, strides %v; materialize it first", ErrNotContiguous, shape, d.Strides())
	}
	return &array.Array{Data: data[:len(data):len(data)], Shape: shape}, nil
}

// rowMajor reports whether strides are those of a row-major array of the shape;
// the stride of an axis of extent 1 does not matter.
func rowMajor(shape, strides []int) bool {
	if len(strides) != len(shape) {
		return array.Size(shape) == 1 // a scalar
	}
	want := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != want {
			return false
		}
		want *= shape[i]
	}
	return true
}

// Permute returns a copy of a whose axis i is axis axes[i] of a, permuted by gorgonia.
// It panics on axes that are none of a's in some order, and on an extent of 0.
func Permute(a *array.Array, axes ...int) *array.Array {
	d, err := tensor.Transpose(Dense(a), axes...)
	if err != nil {
		panic(fmt.Sprintf("tensors: axes %v of shape %v: %v", axes, a.Shape, err))
	}
	out, err := FromDense(d.(*tensor.Dense))
	if err != nil {
		panic(fmt.Sprintf("tensors: axes %v of shape %v: %v", axes, a.Shape, err))
	}
	return out
}

// MatMul returns the product (m, n) of a (m, k) and b (k, n), computed by
// gorgonia on kernel.Gemm. Extents may be 0. An error wraps array.ErrShape.
func MatMul(a, b *array.Array) (*array.Array, error) {
	if len(a.Shape) != 2 || len(b.Shape) != 2 || a.Shape[1] != b.Shape[0] {
		return nil, fmt.Errorf("%w: matrix product of %v and %v", array.ErrShape, a.Shape, b.Shape)
	}
	for _, x := range []*array.Array{a, b} {
		if len(x.Data) != array.Size(x.Shape) {
			return nil, fmt.Errorf("%w: shape %v over %d numbers", array.ErrShape, x.Shape, len(x.Data))
		}
	}
	out := array.New(a.Shape[0], b.Shape[1])
	if len(out.Data) == 0 || a.Shape[1] == 0 {
		return out, nil
	}
	Install()
	if _, err := tensor.MatMul(Dense(a), Dense(b), tensor.WithReuse(Dense(out))); err != nil {
		return nil, fmt.Errorf("matrix product of %v and %v: %w", a.Shape, b.Shape, err)
	}
	return out, nil
}
