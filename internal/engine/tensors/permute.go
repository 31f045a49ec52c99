package tensors

import (
	"slices"

	"tercet/internal/engine/array"
)

// Reorder returns the numbers x of a tensor of shape view with its axes in another order:
// axis i of the result is axis axes[i] of view. No axes leave x as it is.
func Reorder(x []float32, view, axes []int) []float32 {
	if len(axes) == 0 {
		return slices.Clone(x)
	}
	return Permute(&array.Array{Data: x, Shape: view}, axes...).Data
}

// Restore undoes Reorder: Restore(Reorder(x, view, axes), view, axes) is x.
func Restore(x []float32, view, axes []int) []float32 {
	shape, back := slices.Clone(view), make([]int, len(axes))
	for i, a := range axes {
		shape[i], back[a] = view[a], i
	}
	return Reorder(x, shape, back)
}
