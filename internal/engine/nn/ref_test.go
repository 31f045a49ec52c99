package nn

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
)

// reference computes a forward pass in float64 by plain loops over the layers'
// definitions. It reads a layer's geometry, never its arithmetic.
type reference struct {
	mode   Mode
	values map[*Param][]float64
}

func newReference(l Layer, mode Mode) *reference {
	r := &reference{mode: mode, values: map[*Param][]float64{}}
	for _, p := range l.Params() {
		r.values[p] = wide(p.Value.Data)
	}
	return r
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// run returns the output for n rows x.
func (r *reference) run(l Layer, n int, x []float64) []float64 {
	switch l := l.(type) {
	case *Sequential:
		for _, inner := range l.layers {
			x = r.run(inner, n, x)
		}
		return x
	case *Residual:
		a, b := r.run(l.body, n, x), x
		if l.shortcut != nil {
			b = r.run(l.shortcut, n, x)
		}
		y := make([]float64, len(a))
		for i := range a {
			y[i] = a[i] + b[i]
		}
		return y
	case *Flatten:
		return x
	case *ReLU:
		y := make([]float64, len(x))
		for i, v := range x {
			if v > 0 {
				y[i] = v
			}
		}
		return y
	case *Linear:
		return r.linear(l, n, x)
	case *Conv2D:
		return r.conv(l, n, x)
	case *BatchNorm2D:
		return r.batchNorm(l, x)
	case *MaxPool:
		p := l.pool
		return windows(n, x, p.H, p.W, p.C, p.KH, p.KW, p.StrideH, p.StrideW, p.PadH, p.PadW, l.out, func(v []float64) float64 {
			m := math.Inf(-1)
			for _, x := range v {
				m = math.Max(m, x)
			}
			return m
		})
	case *AvgPool:
		p := l.pool
		return windows(n, x, p.H, p.W, p.C, p.KH, p.KW, p.StrideH, p.StrideW, p.PadH, p.PadW, l.out, func(v []float64) float64 {
			s := 0.0
			for _, x := range v {
				s += x
			}
			return s / float64(p.KH*p.KW)
		})
	case *GELU:
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = 0.5 * v * (1 + math.Erf(v/math.Sqrt2))
		}
		return y
	case *Attention:
		return attend(l, n, x)
	case *Tokens:
		y := make([]float64, n*size(l.out))
		c, large := l.out[1], size(l.out)
		for i := range y {
			if y[i] = r.values[l.place][i%large]; i%large < c {
				y[i] += r.values[l.class][i%large]
			} else {
				y[i] += x[i/large*size(l.in)+i%large-c]
			}
		}
		return y
	case *FirstToken:
		var y []float64
		for b := range n {
			y = append(y, x[b*size(l.in):][:l.out[0]]...)
		}
		return y
	case *GlobalMaxPool:
		return r.globalPool(l, n, x)
	case *LayerNorm:
		return r.layerNorm(l, n, x)
	case *MeanStdLayer:
		y := make([]float64, len(x))
		c := l.in[2]
		for i := range x {
			from := i
			if l.of.BGR {
				from = i/c*c + c - 1 - i%c
			}
			y[i] = (x[from] - r.values[l.mean][i%c]) / r.values[l.std][i%c]
		}
		return y
	case *Pad2D:
		y := make([]float64, n*size(l.out))
		for i := range x {
			b, h, w, c := split(i, l.in)
			y[((b*l.out[0]+h+l.top)*l.out[1]+w+l.left)*l.out[2]+c] = x[i]
		}
		return y
	case *L2Normalize:
		y := make([]float64, len(x))
		d := l.in[0]
		for b := range n {
			s := 0.0
			for _, v := range x[b*d : (b+1)*d] {
				s += v * v
			}
			for i := b * d; i < (b+1)*d; i++ {
				y[i] = x[i] / math.Max(math.Sqrt(s), 1e-12)
			}
		}
		return y
	}
	panic(fmt.Sprintf("no reference for %T", l))
}

func split(i int, s []int) (b, h, w, c int) {
	return i / (s[0] * s[1] * s[2]), i / (s[1] * s[2]) % s[0], i / s[2] % s[1], i % s[2]
}

func (r *reference) linear(l *Linear, n int, x []float64) []float64 {
	in, out := l.in[len(l.in)-1], l.outs
	n *= size(l.in) / in
	y := make([]float64, n*out)
	for b := range n {
		row := y[b*out : (b+1)*out]
		if l.bias != nil {
			copy(row, r.values[l.bias])
		}
		for i, v := range x[b*in : (b+1)*in] {
			for o, u := range r.values[l.weight][i*out:][:out] {
				row[o] += v * u
			}
		}
	}
	return y
}

func (r *reference) conv(l *Conv2D, n int, x []float64) []float64 {
	h, w, c := l.in[0], l.in[1], l.in[2]
	oh, ow, m := l.out[0], l.out[1], l.outC
	y, wt := make([]float64, n*size(l.out)), r.values[l.weight]
	for o := range n * oh * ow {
		out := y[o*m : (o+1)*m]
		if l.bias != nil {
			copy(out, r.values[l.bias])
		}
		b, oy, ox := o/(oh*ow), o/ow%oh, o%ow
		for ky := range l.k {
			for kx := range l.k {
				iy, ix := oy*l.stride-l.pad+ky, ox*l.stride-l.pad+kx
				if iy < 0 || iy >= h || ix < 0 || ix >= w {
					continue
				}
				for ch, v := range x[((b*h+iy)*w+ix)*c:][:c] {
					for i, u := range wt[((ky*l.k+kx)*c+ch)*m:][:m] {
						out[i] += v * u
					}
				}
			}
		}
	}
	return y
}

func (r *reference) batchNorm(l *BatchNorm2D, x []float64) []float64 {
	c := l.in[len(l.in)-1]
	rows := len(x) / c
	y := make([]float64, len(x))
	for k := range c {
		mean, vari := r.values[l.runMean][k], r.values[l.runVar][k]
		if !r.mode.running() {
			mean, vari = 0, 0
			for i := k; i < len(x); i += c {
				mean += x[i] / float64(rows)
			}
			for i := k; i < len(x); i += c {
				vari += (x[i] - mean) * (x[i] - mean) / float64(rows)
			}
		}
		for i := k; i < len(x); i += c {
			y[i] = (x[i]-mean)/math.Sqrt(vari+1e-5)*r.values[l.weight][k] + r.values[l.bias][k]
		}
	}
	return y
}

// attend is attention by its definition: each head, query by query.
func attend(l *Attention, n int, x []float64) []float64 {
	tokens, width := l.out[0], l.out[1]
	dim := width / l.heads
	y := make([]float64, n*tokens*width)
	for b := range n {
		at := func(token, part, head, i int) float64 {
			return x[(b*tokens+token)*3*width+part*width+head*dim+i]
		}
		for head := range l.heads {
			for q := range tokens {
				weights, sum := make([]float64, tokens), 0.0
				for k := range tokens {
					dot := 0.0
					for i := range dim {
						dot += at(q, 0, head, i) * at(k, 1, head, i)
					}
					weights[k] = math.Exp(dot / math.Sqrt(float64(dim)))
					sum += weights[k]
				}
				for k, w := range weights {
					for i := range dim {
						y[(b*tokens+q)*width+head*dim+i] += w / sum * at(k, 2, head, i)
					}
				}
			}
		}
	}
	return y
}

func (r *reference) globalPool(l *GlobalMaxPool, n int, x []float64) []float64 {
	h, w, c := l.in[0], l.in[1], l.in[2]
	y := make([]float64, n*c)
	for i := range y {
		most, sum := math.Inf(-1), 0.0
		for p := range h * w {
			v := x[(i/c*h*w+p)*c+i%c]
			most, sum = math.Max(most, v), sum+v
		}
		y[i] = most
		if l.mean {
			y[i] += sum / float64(h*w)
		}
	}
	return y
}

func (r *reference) layerNorm(l *LayerNorm, n int, x []float64) []float64 {
	count, d := l.vectors(n)
	y := make([]float64, len(x))
	for v := range count {
		row := x[v*d : (v+1)*d]
		mean, vari := 0.0, 0.0
		for _, u := range row {
			mean += u / float64(d)
		}
		for _, u := range row {
			vari += (u - mean) * (u - mean) / float64(d)
		}
		for i, u := range row {
			y[v*d+i] = (u - mean) / math.Sqrt(vari+l.eps)
			if l.affine {
				y[v*d+i] = y[v*d+i]*r.values[l.weight][i] + r.values[l.bias][i]
			}
		}
	}
	return y
}

// windows applies f to the pixels of each window; padding is left out, so f of a
// mean divides by the whole window.
func windows(n int, x []float64, h, w, c, kh, kw, sh, sw, ph, pw int, out []int, f func([]float64) float64) []float64 {
	if len(out) == 1 { // global
		out = []int{1, 1, c}
	}
	y := make([]float64, n*size(out))
	for i := range y {
		b, oy, ox, ch := split(i, out)
		v := make([]float64, 0, kh*kw)
		for iy := oy*sh - ph; iy < oy*sh-ph+kh; iy++ {
			for ix := ox*sw - pw; ix < ox*sw-pw+kw; ix++ {
				if iy >= 0 && iy < h && ix >= 0 && ix < w {
					v = append(v, x[((b*h+iy)*w+ix)*c+ch])
				}
			}
		}
		y[i] = f(v)
	}
	return y
}

func images(n int, shape []int, fill func() float64) *array.Array {
	x := array.New(append([]int{n}, shape...)...)
	for i := range x.Data {
		x.Data[i] = float32(fill())
	}
	return x
}
