package export

import (
	"math"
	"strconv"
	"testing"
)

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func words(list ...int) (out []string) {
	for _, n := range list {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

// run computes one operation.
func (g *onnxFile) run(t *testing.T, n node) {
	t.Helper()
	var in []*tensor
	for _, name := range n.in {
		if g.values[name] == nil {
			t.Fatalf("%s reads %s, which is not there", n.kind, name)
		}
		in = append(in, g.values[name])
	}
	x := in[0]
	var y *tensor
	switch n.kind {
	case "Conv":
		y = conv(n, in)
	case "BatchNormalization":
		eps := n.attributes["epsilon"][0]
		y = each(x, func(i int, v float64) float64 {
			c := i / (x.shape[2] * x.shape[3]) % x.shape[1]
			return (v-in[3].data[c])/math.Sqrt(in[4].data[c]+eps)*in[1].data[c] + in[2].data[c]
		})
	case "Relu":
		y = each(x, func(_ int, v float64) float64 { return max(v, 0) })
	case "Sqrt":
		y = each(x, func(_ int, v float64) float64 { return math.Sqrt(v) })
	case "Clip":
		y = each(x, func(_ int, v float64) float64 { return min(max(v, in[1].data[0]), in[2].data[0]) })
	case "MaxPool":
		y = pool(x, n.attributes["kernel_shape"], n.attributes["strides"], n.attributes["pads"])
	case "GlobalMaxPool", "GlobalAveragePool":
		y = global(x, n.kind == "GlobalMaxPool")
	case "Flatten":
		y = &tensor{[]int{x.shape[0], count(x.shape[1:])}, x.data}
	case "Gemm":
		y = gemm(in)
	case "Add", "Sub", "Mul", "Div":
		y = binaryOf(n.kind, x, in[1])
	case "Pad":
		y = pad(x, in[1].data)
	case "ReduceL2", "ReduceMean":
		y = reduce(n.kind, x)
	case "Shape":
		y = &tensor{shape: []int{len(x.shape)}}
		for _, d := range x.shape {
			y.data = append(y.data, float64(d))
		}
	case "Expand":
		y = &tensor{shape: []int{int(in[1].data[0]), int(in[1].data[1])}}
		for i := range count(y.shape) {
			y.data = append(y.data, x.data[i/y.shape[1]])
		}
	case "Split":
		for i, out := range n.out {
			g.values[out] = channels(x, i, i+1)
		}
		return
	case "Concat":
		y = &tensor{shape: []int{x.shape[0], len(in), x.shape[2], x.shape[3]}}
		for k := range x.shape[0] {
			for _, part := range in {
				size := count(part.shape[1:])
				y.data = append(y.data, part.data[k*size:][:size]...)
			}
		}
	default:
		t.Fatalf("operation %s", n.kind)
	}
	g.values[n.out[0]] = y
}

func each(x *tensor, f func(i int, v float64) float64) *tensor {
	y := &tensor{shape: x.shape}
	for i, v := range x.data {
		y.data = append(y.data, f(i, v))
	}
	return y
}

// channels are those of x from lo to hi.
func channels(x *tensor, lo, hi int) *tensor {
	size := x.shape[2] * x.shape[3]
	y := &tensor{shape: []int{x.shape[0], hi - lo, x.shape[2], x.shape[3]}}
	for n := range x.shape[0] {
		y.data = append(y.data, x.data[(n*x.shape[1]+lo)*size:][:(hi-lo)*size]...)
	}
	return y
}

// at is a pixel of x, or outside where it has none.
func (x *tensor) at(n, c, h, w int, outside float64) float64 {
	if h < 0 || w < 0 || h >= x.shape[2] || w >= x.shape[3] {
		return outside
	}
	return x.data[((n*x.shape[1]+c)*x.shape[2]+h)*x.shape[3]+w]
}

// windows calls f for each place of a window: image, and its top left corner.
func windows(x *tensor, c int, kernel, strides, pads []float64, f func(n, c, h, w int) float64) *tensor {
	out := func(size, k, s, before, after float64) int { return int((size+before+after-k)/s) + 1 }
	oh := out(float64(x.shape[2]), kernel[0], strides[0], pads[0], pads[2])
	ow := out(float64(x.shape[3]), kernel[1], strides[1], pads[1], pads[3])
	y := &tensor{shape: []int{x.shape[0], c, oh, ow}}
	for n := range x.shape[0] {
		for k := range c {
			for h := range oh {
				for w := range ow {
					y.data = append(y.data, f(n, k, h*int(strides[0])-int(pads[0]), w*int(strides[1])-int(pads[1])))
				}
			}
		}
	}
	return y
}

func conv(n node, in []*tensor) *tensor {
	x, w := in[0], in[1]
	return windows(x, w.shape[0], n.attributes["kernel_shape"], n.attributes["strides"], n.attributes["pads"], func(b, o, top, left int) float64 {
		sum := 0.0
		if len(in) > 2 {
			sum = in[2].data[o]
		}
		for c := range w.shape[1] {
			for h := range w.shape[2] {
				for k := range w.shape[3] {
					sum += x.at(b, c, top+h, left+k, 0) * w.at(o, c, h, k, 0)
				}
			}
		}
		return sum
	})
}

func pool(x *tensor, kernel, strides, pads []float64) *tensor {
	return windows(x, x.shape[1], kernel, strides, pads, func(b, c, top, left int) float64 {
		most := math.Inf(-1)
		for h := range int(kernel[0]) {
			for w := range int(kernel[1]) {
				most = max(most, x.at(b, c, top+h, left+w, most))
			}
		}
		return most
	})
}

func global(x *tensor, most bool) *tensor {
	size := x.shape[2] * x.shape[3]
	y := &tensor{shape: []int{x.shape[0], x.shape[1], 1, 1}}
	for i := range x.shape[0] * x.shape[1] {
		sum, top := 0.0, math.Inf(-1)
		for _, v := range x.data[i*size:][:size] {
			sum, top = sum+v, max(top, v)
		}
		if most {
			sum = top * float64(size)
		}
		y.data = append(y.data, sum/float64(size))
	}
	return y
}

// gemm is x W^T + b.
func gemm(in []*tensor) *tensor {
	x, w := in[0], in[1]
	y := &tensor{shape: []int{x.shape[0], w.shape[0]}}
	for n := range x.shape[0] {
		for o := range w.shape[0] {
			sum := 0.0
			if len(in) > 2 {
				sum = in[2].data[o]
			}
			for k := range w.shape[1] {
				sum += x.data[n*w.shape[1]+k] * w.data[o*w.shape[1]+k]
			}
			y.data = append(y.data, sum)
		}
	}
	return y
}

// binaryOf combines x with b: of the same shape, one number, or one for each channel.
func binaryOf(kind string, x, b *tensor) *tensor {
	return each(x, func(i int, v float64) float64 {
		at := i
		switch {
		case len(b.data) == 1:
			at = 0
		case len(b.shape) == 3: // (C, 1, 1)
			at = i / (x.shape[2] * x.shape[3]) % x.shape[1]
		}
		switch w := b.data[at]; kind {
		case "Add":
			return v + w
		case "Sub":
			return v - w
		case "Mul":
			return v * w
		default:
			return v / w
		}
	})
}

// pad surrounds images by zeros; pads are those before all axes, then those behind.
func pad(x *tensor, pads []float64) *tensor {
	one := []float64{1, 1}
	return windows(x, x.shape[1], one, one, []float64{pads[2], pads[3], pads[6], pads[7]}, func(n, c, h, w int) float64 { return x.at(n, c, h, w, 0) })
}

// reduce is over the numbers of a row.
func reduce(kind string, x *tensor) *tensor {
	y := &tensor{shape: []int{x.shape[0], 1}}
	d := x.shape[1]
	for n := range x.shape[0] {
		sum, squares := 0.0, 0.0
		for _, v := range x.data[n*d:][:d] {
			sum, squares = sum+v, squares+v*v
		}
		if kind == "ReduceL2" {
			sum = math.Sqrt(squares) * float64(d)
		}
		y.data = append(y.data, sum/float64(d))
	}
	return y
}
