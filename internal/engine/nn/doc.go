// Package nn holds layers with explicit forward and backward passes, and the
// models built from them.
//
// There is no tape: Forward keeps what its Backward needs, and Backward can be asked for
// parameter gradients, input gradients or both (Need). Images are (B, H, W, C), weights
// of convolutions (KH, KW, C, O), of linear layers (in, out), all float32. Buffers are
// made once for a batch shape and used again.
//
// Build makes a Model by name; files model_*.go list the layers. Modes say how
// batch norm behaves: Train, Eval (folded into the convolution before it), Frozen, and
// BatchStats. fuse.go and gradients.go hold what layers share; rowwise.go takes a few images
// at a time through several layers.
package nn
