// Package weights reads the weights with which a network begins: PyTorch's files, in
// safetensors or as .pth, and Tercet's own checkpoints. It maps their names and the
// order of their axes to those of a network, and says what it took and what it did not.
package weights
