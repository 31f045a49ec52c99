// Package array holds contiguous float32 arrays with checked shapes. The engine computes
// on Data directly; package tensors connects arrays with gorgonia.
package array
