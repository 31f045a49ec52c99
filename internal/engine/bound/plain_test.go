package bound

import (
	"math"
	"testing"

	"tercet/internal/engine/nn"
)

// interval is a number of the plain computation.
type interval struct{ lo, hi float64 }

func (a interval) times(w float64) interval {
	return interval{min(w*a.lo, w*a.hi), max(w*a.lo, w*a.hi)}
}

func (a interval) plus(b interval) interval { return interval{a.lo + b.lo, a.hi + b.hi} }

// plainBounds bounds the output before it is normalized of one image.
func plainBounds(t *testing.T, m *nn.Model, image []float32, eps float64) (lo, hi []float64) {
	values := plainValues(t, m, image, eps)
	for _, v := range values[len(values)-1] {
		lo, hi = append(lo, v.lo), append(hi, v.hi)
	}
	return lo, hi
}

// plainValues bounds the output of each step of one image before normalization, by loops
// over the definitions of the steps.
func plainValues(t *testing.T, m *nn.Model, image []float32, eps float64) [][]interval {
	t.Helper()
	ops, err := m.Graph()
	if err != nil {
		t.Fatal(err)
	}
	params := map[string][]float32{}
	for _, p := range m.Params() {
		params[p.Name] = p.Value.Data
	}
	s := m.Spec()
	x := make([]interval, len(image))
	for i, v := range image {
		x[i] = interval{max(0, float64(v)-eps), min(1, float64(v)+eps)}
	}
	values, shapes := [][]interval{}, [][]int{}
	at := func(i int) ([]interval, []int) {
		if i == nn.Images {
			return x, []int{s.Height, s.Width, s.Channels}
		}
		return values[i], shapes[i]
	}
	for _, o := range ops {
		if o.Kind == nn.OpL2 {
			break
		}
		in, shape := at(o.In[0])
		last := plainStep(o, in, shape, params)
		if o.Kind == nn.OpAdd {
			other, _ := at(o.In[1])
			last = append([]interval(nil), in...)
			for i := range last {
				last[i] = last[i].plus(other[i])
			}
		}
		values, shapes = append(values, last), append(shapes, o.Shape)
	}
	return values
}

// plainFeatures bounds what the last linear layer of one image reads.
func plainFeatures(t *testing.T, m *nn.Model, image []float32, eps float64) []interval {
	values := plainValues(t, m, image, eps)
	if len(values) == 1 {
		x := make([]interval, len(image))
		for i, v := range image {
			x[i] = interval{max(0, float64(v)-eps), min(1, float64(v)+eps)}
		}
		return x
	}
	return values[len(values)-2]
}

func plainStep(o nn.Op, in []interval, shape []int, params map[string][]float32) []interval {
	w, bias := params[o.Name+".weight"], params[o.Name+".bias"]
	n := 1
	for _, s := range o.Shape {
		n *= s
	}
	out := make([]interval, n)
	switch o.Kind {
	case nn.OpLinear:
		for k := range out {
			if bias != nil {
				out[k] = interval{float64(bias[k]), float64(bias[k])}
			}
			for i, v := range in {
				out[k] = out[k].plus(v.times(float64(w[i*n+k])))
			}
		}
	case nn.OpBatchNorm:
		c := len(w)
		for i, v := range in {
			k := i % c
			slope := float64(w[k]) / math.Sqrt(float64(params[o.Name+".running_var"][k])+nn.BatchNormEps)
			shift := float64(bias[k]) - slope*float64(params[o.Name+".running_mean"][k])
			out[i] = v.times(slope).plus(interval{shift, shift})
		}
	case nn.OpMeanStd:
		mean, std := params[o.Name+".mean"], params[o.Name+".std"]
		c := len(mean)
		for i := range in {
			k, from := i%c, i
			if o.BGR {
				from = i - k + c - 1 - k
			}
			v, off := in[from].times(1/float64(std[k])), -float64(mean[k])/float64(std[k])
			out[i] = v.plus(interval{off, off})
		}
	case nn.OpReLU:
		for i, v := range in {
			out[i] = interval{max(0, v.lo), max(0, v.hi)}
		}
	case nn.OpPad:
		for y := range shape[0] {
			for x := range shape[1] {
				for k := range shape[2] {
					out[((y+o.Pad[0])*o.Shape[1]+x+o.Pad[1])*shape[2]+k] = in[(y*shape[1]+x)*shape[2]+k]
				}
			}
		}
	case nn.OpConv, nn.OpMaxPool:
		plainWindows(o, in, shape, w, bias, out)
	case nn.OpMaxAll, nn.OpAvgPool:
		c := shape[2]
		for k := range out {
			out[k] = in[k]
			if o.Kind == nn.OpAvgPool {
				out[k] = interval{}
			}
			for p := k; p < len(in); p += c {
				if o.Kind == nn.OpAvgPool {
					out[k] = out[k].plus(in[p].times(float64(c) / float64(len(in))))
				} else {
					out[k] = interval{max(out[k].lo, in[p].lo), max(out[k].hi, in[p].hi)}
				}
			}
		}
	default:
		copy(out, in)
	}
	return out
}

func plainWindows(o nn.Op, in []interval, shape []int, w, bias []float32, out []interval) {
	h, wide, c := shape[0], shape[1], shape[2]
	outC := o.Shape[2]
	for y := range o.Shape[0] {
		for x := range o.Shape[1] {
			for k := range outC {
				v := interval{}
				if o.Kind == nn.OpMaxPool {
					v = interval{math.Inf(-1), math.Inf(-1)}
				} else if bias != nil {
					v = interval{float64(bias[k]), float64(bias[k])}
				}
				for a := range o.Kernel[0] {
					for b := range o.Kernel[1] {
						i, j := y*o.Stride[0]-o.Pad[0]+a, x*o.Stride[1]-o.Pad[1]+b
						if i < 0 || j < 0 || i >= h || j >= wide {
							continue
						}
						if o.Kind == nn.OpMaxPool {
							e := in[(i*wide+j)*c+k]
							v = interval{max(v.lo, e.lo), max(v.hi, e.hi)}
							continue
						}
						for ch := range c {
							v = v.plus(in[(i*wide+j)*c+ch].times(float64(w[((a*o.Kernel[1]+b)*c+ch)*outC+k])))
						}
					}
				}
				out[(y*o.Shape[1]+x)*outC+k] = v
			}
		}
	}
}
