package kernel

import "fmt"

// Conv is the geometry of a two-dimensional convolution (cross-correlation, as
// in every deep-learning library) on NHWC images: inputs (n, H, W, C), weights
// (KH, KW, C, OutC), outputs (n, oh, ow, OutC), zero padding PadH rows above and
// below and PadW columns left and right.
type Conv struct {
	H, W, C          int
	OutC, KH, KW     int
	StrideH, StrideW int
	PadH, PadW       int
}

// Out returns the height and width of the output; a kernel larger than the
// padded input gives 0 or less.
func (g Conv) Out() (oh, ow int) {
	return floorDiv(g.H+2*g.PadH-g.KH, g.StrideH) + 1, floorDiv(g.W+2*g.PadW-g.KW, g.StrideW) + 1
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// check panics on a geometry or a slice that does not fit.
func (g Conv) check(n int, x, w, y int) (oh, ow int) {
	if n < 0 || g.H < 1 || g.W < 1 || g.C < 1 || g.OutC < 1 || g.KH < 1 || g.KW < 1 ||
		g.StrideH < 1 || g.StrideW < 1 || g.PadH < 0 || g.PadW < 0 {
		panic(fmt.Sprintf("kernel: convolution %+v of %d images", g, n))
	}
	oh, ow = g.Out()
	if oh < 1 || ow < 1 {
		panic(fmt.Sprintf("kernel: convolution %+v: the kernel is larger than the padded input", g))
	}
	if want := n * g.H * g.W * g.C; x != want {
		panic(fmt.Sprintf("kernel: convolution input: want %d numbers, got %d", want, x))
	}
	if want := g.KH * g.KW * g.C * g.OutC; w != want {
		panic(fmt.Sprintf("kernel: convolution weights: want %d numbers, got %d", want, w))
	}
	if want := n * oh * ow * g.OutC; y != want {
		panic(fmt.Sprintf("kernel: convolution output: want %d numbers, got %d", want, y))
	}
	return oh, ow
}

// patch returns the number of inputs that one output sees: the rows of the
// weight matrix (KH*KW*C, OutC).
func (g Conv) patch() int { return g.KH * g.KW * g.C }

// pointwise reports whether a patch is one pixel and every pixel a patch.
func (g Conv) pointwise() bool {
	return g.KH == 1 && g.KW == 1 && g.StrideH == 1 && g.StrideW == 1 && g.PadH == 0 && g.PadW == 0
}

// checkBias panics unless b is nil or holds OutC numbers.
func (g Conv) checkBias(b []float32) {
	if b != nil && len(b) != g.OutC {
		panic(fmt.Sprintf("kernel: convolution bias: want %d numbers, got %d", g.OutC, len(b)))
	}
}
