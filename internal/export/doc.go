// Package export writes a network for other programs: as weights of PyTorch with a
// program that loads them, and as an ONNX file.
package export
