package kernel

import "math"

//go:generate go run -C _generate ./winograd -out ../winograd_amd64.s -go ../winograd_stubs.go -pkg kernel

// Winograd's convolution (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2016) computes tiles of m x m outputs Y of an r x r kernel w
// from alpha x alpha inputs d, alpha = m+r-1, for stride 1:
//
//	Y = Aᵀ [ (G w Gᵀ) .* (Bᵀ d B) ] A
//
// where .* is by elements, so that over all tiles and channels each of the
// alpha x alpha positions is a matrix product. The input gradient is the same
// with turned and transposed weights; the weight gradient is the adjoint,
//
//	dw = Gᵀ [ sum over tiles of (Bᵀ d B) .* (A dY Aᵀ) ] G.
//
// The matrices come from interpolation of polynomials at alpha-1 finite points
// and infinity:
//
//	F(2x2,3x3)              0, 1, -1
//	F(4x4,3x3), F(2x2,5x5)  0, 5/8, -5/8, 3/2, -3/2
//	F(4x4,5x5)              0, 1/2, -1/2, 1, -1, 2, -2
//
// Of those tried for which all entries of B are float32 numbers, these have the
// least errors; F(4x4,3x3) has less than half of that of the usual points 0, 1,
// -1, 2, -2 (compare Barabasz et al., "Error Analysis and Improving the Accuracy
// of Winograd Convolution", 2020). F(7x7,3x3) would suit maps of 7, 14 and 28 and
// take a third less time for many channels, but its error is 13 times that of
// F(4x4,3x3).
//
// Errors, relative to the sum of the magnitudes of the terms and in units of
// 2⁻²⁴: root mean square and largest of those measured at all levels against
// float64, for normal numbers and for such after ReLU, 48 to 32 channels on 14 x
// 14 pixels (the suite tests them):
//
//	                    outputs, input gradients   weight gradients
//	direct kernels              0.5 (4.0)              0.5 (4.5)
//	Winograd2 3x3               0.4 (2.6)              0.6 (4.2)
//	Winograd4 3x3               1.3  (17)              1.3  (11)
//	Winograd2 5x5               0.9 (7.3)              2.2  (27)
//	Winograd4 5x5               3.0  (43)              5.3  (65)
//
// For every input, an output's error is at most C + 4(m+r) times 2⁻²⁴ times what
// the formula gives for the magnitudes of all matrices' entries, which may be
// much more than its own terms where numbers of very different size share a tile.
//
// A NaN or an infinity in x reaches every output whose patch holds it, and may
// reach the other outputs of those tiles; one in w spoils its channel of all
// outputs. In a weight gradient one spoils the whole kernels of its channel.

// winogradKind is one algorithm F(m x m, r x r) with its maps.
type winogradKind struct {
	alpha, m, r int
	input       *winogradMap // Bᵀ
	weights     *winogradMap // G
	output      *winogradMap // Aᵀ
	gather      *winogradMap // Gᵀ
	halves      [2]winogradHalfMaps
}

// winogradHalfMaps make half of the positions of a weight gradient's V and Z.
type winogradHalfMaps struct {
	input     *winogradMap // Bᵀ
	spread    *winogradMap // A
	positions []int
}

// The kinds: F(2x2,3x3), F(4x4,3x3), F(2x2,5x5), F(4x4,5x5).
var winogradKinds = [...]winogradKind{
	newWinogradKind(0, 2, 3, 1),
	newWinogradKind(1, 4, 3, 0.625, 1.5),
	newWinogradKind(2, 2, 5, 0.625, 1.5),
	newWinogradKind(3, 4, 5, 0.5, 1, 2),
}

// winogradKindOf returns the kind for a convolution, nil where there is none.
func (g Conv) winogradKindOf(alg Algorithm) *winogradKind {
	if g.StrideH != 1 || g.StrideW != 1 || g.KH != g.KW || g.PadH >= g.KH || g.PadW >= g.KW {
		return nil
	}
	switch {
	case alg == Winograd2 && g.KH == 3:
		return &winogradKinds[0]
	case alg == Winograd4 && g.KH == 3:
		return &winogradKinds[1]
	case alg == Winograd2 && g.KH == 5:
		return &winogradKinds[2]
	case alg == Winograd4 && g.KH == 5:
		return &winogradKinds[3]
	}
	return nil
}

// winogradFits reports whether alg can compute g: stride 1, a square kernel of 3
// or 5 and a padding less than the kernel.
func (g Conv) winogradFits(alg Algorithm) bool { return g.winogradKindOf(alg) != nil }

// floorOf is the least value of an output.
func floorOf(relu bool) float32 {
	if relu {
		return 0
	}
	return float32(math.Inf(-1))
}
