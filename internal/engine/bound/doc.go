// Package bound computes interval bounds: for images that may move within a box, an
// interval for each number that a network computes from them (interval bound
// propagation; Gowal et al., 2018, arXiv 1810.12715).
//
// The bounds are about the float32 program, not about real numbers. Each sum of n
// products that the direct kernels compute, in any order and with or without fused
// operations, is within Gamma(n) times the sum of the magnitudes of its terms of the exact
// sum (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Radii grow by
// that much at each layer, once for the network's own sums and once for the sums of this
// package, and are rounded upwards. Winograd convolutions have no such bound: a network
// that uses them is bounded as it computes with TERCET_WINOGRAD=off.
package bound
