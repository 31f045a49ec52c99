// Package gpu computes the passes of networks on a device: an nn.Engine, made of the steps
// that nn.Model.Graph lists, and an nn.Store, which keeps parameters, gradients and the state
// of optimizers there. Embeddings, their gradients and images cross the bus; mining, losses,
// data and metrics stay on the CPU. It needs the build tag native.
//
// The sums of a pass have a fixed order, so a device gives the same bits again. They are not
// those of the CPU: a test holds each gradient of a parameter within 8 x 2^-24 of the sum of
// magnitudes of what it is made of on the device. Over whole passes rounding grows with depth.
package gpu
