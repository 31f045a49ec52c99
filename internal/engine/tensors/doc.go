// Package tensors is all that Tercet asks of gorgonia: it permutes the axes of weights
// between Tercet's layout and PyTorch's, and lets gorgonia and gonum multiply with our
// kernels.
//
// It is the only package that imports gorgonia.org/tensor, and few packages import it:
// gorgonia's types embed reflect.Type, which keeps the linker from leaving out methods
// that nobody calls. A test binary of the engine without it has 4.5 MB instead of 15.
package tensors
