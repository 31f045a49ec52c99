// Package torchfile reads the tensors of a file that PyTorch's torch.save has written:
// the zip container (PyTorch 1.6 and later) and the older stream of pickles.
//
// A pickle is a program. Here a small machine reads it that knows the instructions and
// the names that a dictionary of tensors needs, and nothing else. Names stay names: no
// instruction calls or loads anything. What a file claims, sizes, offsets and strides
// above all, is compared with the bytes that are there before memory is taken for it.
package torchfile
