package bound

import (
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// product is a layer that multiplies by a matrix of weights: y = W x + bias.
type product struct {
	w, abs []float32 // the weights and their magnitudes
	bias   []float32 // of each output, nil for none
	gamma  float64   // error of its sums
	// times multiplies n rows by w.
	times func(n int, x, w, bias, y []float32)
	s     []float32 // radii with what the sums lose
	// back multiplies n rows of coefficients of the output by w; error of its sums.
	back      func(n int, a, w, to []float32)
	backGamma float64
	ins       int     // rows of the weights as a matrix
	windows   float64 // that see a number of the input
	channels  int     // of the input
}

func newProduct(terms int, w, bias []float32, times func(n int, x, w, bias, y []float32)) (*product, error) {
	p := &product{w: w, bias: bias, gamma: Gamma(terms), times: times, abs: make([]float32, len(w))}
	if p.gamma > 0.25 {
		return nil, fmt.Errorf("sums of %d products are too long for float32 bounds", terms)
	}
	for i, v := range w {
		p.abs[i] = float32(math.Abs(float64(v)))
	}
	return p, nil
}

// apply bounds W x + bias. With G for gamma, x the network's input and c, r the box:
//
//	|network - (W x + bias)| <= G (|W| |x| + |bias|)   its sums
//	|computed center - (W c + bias)| <= G (|W| |c| + |bias|)   ours
//	|W x - W c| <= |W| r
//
// so that the radius is |W| (r + G (2 |c| + r)) + 2 G |bias|; the sum of |W| s, of terms
// that are not negative, is at most a part G too small.
func (p *product) apply(in []*Box, out *Box, rows int) {
	c, r := in[0].C.Data, in[0].R.Data
	if cap(p.s) < len(c) {
		p.s = make([]float32, len(c))
	}
	s := p.s[:len(c)]
	par.For(len(c), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m, w := math.Abs(float64(c[i])), float64(r[i])
			s[i] = up(w + float64(p.gamma*(float64(2*m)+w)))
		}
	})
	p.times(rows, c, p.w, p.bias, out.C.Data)
	p.times(rows, s, p.abs, nil, out.R.Data)
	t := out.R.Data
	outs := len(p.bias)
	par.For(len(t), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := float64(float64(t[i])*(1+float64(2*p.gamma))) + tiny
			if outs > 0 {
				v += float64(2 * p.gamma * math.Abs(float64(p.bias[i%outs])))
			}
			t[i] = up(v)
		}
	})
}

// newLinear is a linear layer with weights (ins, outs).
func newLinear(w, bias []float32, ins, outs int) (*product, error) {
	p, err := newProduct(ins, w, bias, func(n int, x, w, bias, y []float32) {
		kernel.GemmBias(false, false, n, outs, ins, x, ins, w, outs, bias, false, y, outs)
	})
	if err == nil {
		p.backGamma, p.ins, p.windows, p.channels = Gamma(outs), ins, 1, ins
		p.back = func(n int, a, w, to []float32) {
			kernel.Gemm(false, true, n, ins, outs, 1, a, outs, w, outs, 0, to, ins)
		}
	}
	return p, err
}

// newConv is a convolution by the direct kernels.
func newConv(g kernel.Conv, w, bias []float32) (*product, error) {
	plan := kernel.ConvPlan{Conv: g}
	p, err := newProduct(g.KH*g.KW*g.C, w, bias, func(n int, x, w, bias, y []float32) {
		plan.Forward(n, x, w, bias, false, y)
	})
	if err == nil {
		p.backGamma, p.ins = Gamma(g.KH*g.KW*g.OutC), g.KH*g.KW*g.C
		p.windows, p.channels = overlap(g.KH, g.StrideH)*overlap(g.KW, g.StrideW), g.C
		p.back = plan.BackwardInput
	}
	return p, err
}

// scaling is y = (x - mean) scale + shift of each channel: a batch norm with its running
// statistics, a mean and a standard deviation of pixels.
type scaling struct {
	mean, scale, shift []float64
	reverse            bool // the channels first
}

// apply bounds it. Folded into weights or not, the network rounds it a few times.
func (l *scaling) apply(in []*Box, out *Box, _ int) {
	c, r, n := in[0].C.Data, in[0].R.Data, len(l.mean)
	g := Gamma(0)
	par.For(len(c)/n, max(1, chunk/n), func(lo, hi int) {
		for p := lo * n; p < hi*n; p += n {
			for k := range n {
				from := p + k
				if l.reverse {
					from = p + n - 1 - k
				}
				v, w := float64(c[from]), float64(r[from])
				slope := math.Abs(l.scale[k])
				center := float64((v-l.mean[k])*l.scale[k]) + l.shift[k]
				radius := float64(slope*w) + float64(g*(float64(slope*(math.Abs(v)+w+math.Abs(l.mean[k])))+math.Abs(l.shift[k]))) + tiny
				out.C.Data[p+k] = float32(center)
				out.R.Data[p+k] = up(radius + float64(2*unit*math.Abs(center)))
			}
		}
	})
}
