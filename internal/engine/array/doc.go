// Package array holds contiguous float32 arrays with checked shapes, and is the
// only package that imports gorgonia.org/tensor.
//
// The engine computes on Data directly. gorgonia permutes the axes of weights between
// Tercet's layout and PyTorch's (Permute); Dense and FromDense share storage with it.
package array
