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

func (g Conv) each(n int, f func(in, out, wt int)) {
	oh, ow := g.Out()
	for i := range n {
		for oy := range oh {
			for ox := range ow {
				for ky := range g.KH {
					for kx := range g.KW {
						y, x := oy*g.StrideH-g.PadH+ky, ox*g.StrideW-g.PadW+kx
						if y < 0 || y >= g.H || x < 0 || x >= g.W {
							continue
						}
						f(((i*g.H+y)*g.W+x)*g.C, ((i*oh+oy)*ow+ox)*g.OutC, (ky*g.KW+kx)*g.C*g.OutC)
					}
				}
			}
		}
	}
}

// Forward computes y from x, w and bias (OutC numbers, or nil for none).
func (g Conv) Forward(n int, x, w, bias, y []float32) {
	g.check(n, len(x), len(w), len(y))
	for i := range y {
		y[i] = 0
		if bias != nil {
			y[i] = bias[i%g.OutC]
		}
	}
	g.each(n, func(in, out, wt int) {
		for c := range g.C {
			for o := range g.OutC {
				y[out+o] += x[in+c] * w[wt+c*g.OutC+o]
			}
		}
	})
}

// BackwardInput overwrites dx with the gradient with respect to the input.
func (g Conv) BackwardInput(n int, dy, w, dx []float32) {
	g.check(n, len(dx), len(w), len(dy))
	clear(dx)
	g.each(n, func(in, out, wt int) {
		for c := range g.C {
			for o := range g.OutC {
				dx[in+c] += dy[out+o] * w[wt+c*g.OutC+o]
			}
		}
	})
}

// BackwardWeights adds the gradients with respect to the weights to dw and,
// where db is not nil, those with respect to the bias to db.
func (g Conv) BackwardWeights(n int, x, dy, dw, db []float32) {
	g.check(n, len(x), len(dw), len(dy))
	g.each(n, func(in, out, wt int) {
		for c := range g.C {
			for o := range g.OutC {
				dw[wt+c*g.OutC+o] += x[in+c] * dy[out+o]
			}
		}
	})
	if db != nil {
		for i, v := range dy {
			db[i%g.OutC] += v
		}
	}
}
