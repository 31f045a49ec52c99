// Package array holds contiguous float32 arrays with checked shapes, and is the
// only package that imports gorgonia.org/tensor.
//
// The engine computes on Data directly; Dense and FromDense are the bridge to
// gorgonia for code that wants its operations.
package array
