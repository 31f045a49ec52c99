package worst

import (
	"math"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// linear is the embedder u = W x + b, of which all worst cases are known.
type linear struct {
	w     [][]float64 // (D, n)
	b     []float64
	x     *array.Array
	scale float64 // of what Backward returns; 0 hides the gradient
}

func newLinear(seed uint64, n, d int) *linear {
	r := rng.New(seed, "linear")
	m := &linear{w: make([][]float64, d), b: make([]float64, d), scale: 1}
	for k := range m.w {
		m.w[k] = make([]float64, n)
		for i := range m.w[k] {
			m.w[k][i] = r.NormFloat64()
		}
		m.b[k] = r.NormFloat64()
	}
	return m
}

func (m *linear) Dim() int            { return len(m.w) }
func (m *linear) Params() []*nn.Param { return nil }
func (m *linear) Embed(x *array.Array, _ nn.Mode) *array.Array {
	m.x = x
	z := array.New(x.Rows(), m.Dim())
	for i := range x.Rows() {
		for k, w := range m.w {
			s := m.b[k]
			for j, v := range x.Row(i) {
				s += w[j] * float64(v)
			}
			z.Row(i)[k] = float32(s)
		}
	}
	return z
}

func (m *linear) Backward(dz *array.Array, _ nn.Need) *array.Array {
	dx := array.New(m.x.Shape...)
	for i := range dz.Rows() {
		for j := range dx.Row(i) {
			s := 0.0
			for k, w := range m.w {
				s += w[j] * float64(dz.Row(i)[k])
			}
			dx.Row(i)[j] = float32(m.scale * s)
		}
	}
	return dx
}

// pictures is a set of images in memory.
type pictures struct{ x *array.Array }

func (p pictures) Len() int             { return p.x.Rows() }
func (p pictures) Shape() (h, w, c int) { return p.x.Shape[1], p.x.Shape[2], p.x.Shape[3] }
func (p pictures) Read(i int, dst []float32) error {
	copy(dst, p.x.Row(i))
	return nil
}

// tried is a set with its gallery.
type tried struct {
	m *linear
	s pictures
	g *retrieval.Gallery
}

// newTried draws n images of 2 x 2 x 2 in classes of size; images of a class are near each
// other.
func newTried(seed uint64, n, size, d int) tried { return newTriedOf(seed, n, size, d, 2, 2, 2) }

// newTriedOf is newTried of other images.
func newTriedOf(seed uint64, n, size, d, h, w, c int) tried {
	r, pixels := rng.New(seed, "pictures"), h*w*c
	t := tried{m: newLinear(seed, pixels, d), s: pictures{array.New(n, h, w, c)}}
	labels := make([]int32, n)
	center := make([]float64, pixels)
	for i := range labels {
		labels[i] = int32(i / size)
		for k := range center {
			if i%size == 0 {
				center[k] = r.Float64()
			}
			t.s.x.Row(i)[k] = float32(min(1, max(0, center[k]+0.1*r.NormFloat64())))
		}
	}
	var err error
	if t.g, err = retrieval.NewGallery(t.m.Embed(t.s.x, nn.Eval), labels); err != nil {
		panic(err)
	}
	return t
}

// plain returns the first row of a query at an image, by loops: recall@1 as it is defined.
func (t tried) plain(q int, x []float32) (right bool) {
	one := &array.Array{Data: x, Shape: append([]int{1}, t.s.x.Shape[1:]...)}
	z := (&linear{w: t.m.w, b: t.m.b}).Embed(one, nn.Eval).Row(0)
	best, first := math.Inf(1), -1
	for j := range t.g.Len() {
		square := 0.0
		for k, v := range t.g.X.Row(j) {
			d := float64(z[k]) - float64(v)
			square += d * d
		}
		if j != q && square < best {
			best, first = square, j
		}
	}
	return t.g.Labels[first] == t.g.Labels[q]
}

// plane returns half of d_n^2 - d_p^2 as a function a . x + c of the image, for query q of a
// class of two with the right row p: <u, gp - gn> - (|gp|^2 - |gn|^2) / 2.
func (t tried) plane(q, n int) (a []float64, c float64) {
	gp, gn := t.g.X.Row(q^1), t.g.X.Row(n)
	a = make([]float64, t.s.x.Cols())
	for k := range gp {
		diff := float64(gp[k]) - float64(gn[k])
		for j := range a {
			a[j] += t.m.w[k][j] * diff
		}
		c += t.m.b[k]*diff - (float64(gp[k])*float64(gp[k])-float64(gn[k])*float64(gn[k]))/2
	}
	return a, c
}

// lowest returns the least margin that query q, of a class of two, has against any wrong
// row in the ball: each is a linear function of the image.
func (t tried) lowest(q int, norm string, eps float64) float64 {
	out := math.Inf(1)
	for n := range t.g.Len() {
		if n/2 != q/2 {
			a, c := t.plane(q, n)
			out = min(out, c+leastProduct(a, t.s.x.Row(q), norm, eps))
		}
	}
	return out
}

// lowestOfTwo is lowest of the second nearest wrong row: the least larger one of two linear
// functions over the ball is, by the minimax theorem, the largest least value of their
// convex combinations.
func (t tried) lowestOfTwo(q int, norm string, eps float64) float64 {
	type plane struct {
		a     []float64
		c, at float64
	}
	var planes []plane
	x0 := t.s.x.Row(q)
	for n := range t.g.Len() {
		if n/2 == q/2 {
			continue
		}
		a, c := t.plane(q, n)
		if v := c + leastProduct(a, x0, norm, eps); v < 0 { // others cannot be one of two below 0
			planes = append(planes, plane{a, c, v})
		}
	}
	out := math.Inf(1)
	for i, f := range planes {
		for _, g := range planes[:i] {
			mixed := make([]float64, len(f.a))
			at := func(part float64) float64 {
				for k := range mixed {
					mixed[k] = part*f.a[k] + (1-part)*g.a[k]
				}
				return part*f.c + (1-part)*g.c + leastProduct(mixed, x0, norm, eps)
			}
			low, high := 0.0, 1.0 // of a concave function
			for range 40 {
				third := (high - low) / 3
				if at(low+third) < at(high-third) {
					low += third
				} else {
					high -= third
				}
			}
			out = min(out, at((low+high)/2))
		}
	}
	return out
}

// leastProduct is the least a . x over the images of the ball.
func leastProduct(a []float64, x0 []float32, norm string, eps float64) float64 {
	if norm == "linf" {
		s := 0.0
		for j, v := range a {
			if v > 0 {
				s += v * max(0, float64(x0[j])-eps)
			} else {
				s += v * min(1, float64(x0[j])+eps)
			}
		}
		return s
	}
	at := func(lambda float64) (value, far float64) {
		for j, v := range a {
			x := min(1, max(0, float64(x0[j])-v*lambda))
			value += v * x
			far += (x - float64(x0[j])) * (x - float64(x0[j]))
		}
		return value, math.Sqrt(far)
	}
	low, high := 0.0, 1e6
	for range 60 {
		if mid := (low + high) / 2; true {
			if _, far := at(mid); far > eps {
				high = mid
			} else {
				low = mid
			}
		}
	}
	value, _ := at(low)
	return value
}

// radius is the smallest radius at which query q is broken, by bisection of lowest.
func (t tried) radius(q int, norm string) float64 {
	low, high := 0.0, 1.0
	for range 22 {
		if mid := (low + high) / 2; t.lowest(q, norm, mid) < 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
