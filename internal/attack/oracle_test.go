package attack

import (
	"errors"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// model is z = y/|y| with y = W tanh(V x), in float64 inside; the tests' oracle
// uses plain and slope, the attack uses Embed and Backward.
type model struct {
	v, w   [][]float64
	raw    bool // without normalization
	x      *array.Array
	z, dx  *array.Array
	images int // passed forward
	back   int // passed backward
}

func newModel(seed uint64, n, hidden, d int) *model {
	r := rng.New(seed, "model")
	fill := func(a, b int, s float64) [][]float64 {
		m := make([][]float64, a)
		for i := range m {
			m[i] = make([]float64, b)
			for j := range m[i] {
				m[i][j] = s * r.NormFloat64()
			}
		}
		return m
	}
	return &model{v: fill(hidden, n, 0.6), w: fill(d, hidden, 1)}
}

// plain returns the hidden layer, y and z of image x.
func (m *model) plain(x []float64) (h, y, z []float64) {
	h = make([]float64, len(m.v))
	for a := range h {
		for k := range x {
			h[a] += m.v[a][k] * x[k]
		}
		h[a] = math.Tanh(h[a])
	}
	y, z = make([]float64, len(m.w)), make([]float64, len(m.w))
	s := 0.0
	for b := range y {
		for a := range h {
			y[b] += m.w[b][a] * h[a]
		}
		s += y[b] * y[b]
	}
	for b := range y {
		z[b] = y[b]
		if !m.raw {
			z[b] /= math.Sqrt(s)
		}
	}
	return h, y, z
}

// slope pulls dL/dz back to the image.
func (m *model) slope(x, dz []float64) []float64 {
	h, y, z := m.plain(x)
	dy := append([]float64(nil), dz...)
	if !m.raw {
		dot, length := 0.0, 0.0
		for b := range y {
			dot += dz[b] * z[b]
			length += y[b] * y[b]
		}
		for b := range y {
			dy[b] = (dz[b] - dot*z[b]) / math.Sqrt(length)
		}
	}
	dx := make([]float64, len(x))
	for a := range h {
		s := 0.0
		for b := range y {
			s += m.w[b][a] * dy[b]
		}
		for k := range dx {
			dx[k] += s * (1 - h[a]*h[a]) * m.v[a][k]
		}
	}
	return dx
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func (m *model) Dim() int            { return len(m.w) }
func (m *model) Params() []*nn.Param { return nil }

func (m *model) Embed(x *array.Array, _ nn.Mode) *array.Array {
	m.images += x.Rows()
	m.x = x
	m.z = array.New(x.Rows(), m.Dim())
	for i := range x.Rows() {
		_, _, z := m.plain(wide(x.Row(i)))
		for k, v := range z {
			m.z.Row(i)[k] = float32(v)
		}
	}
	return m.z
}

func (m *model) Backward(dz *array.Array, _ nn.Need) *array.Array {
	m.back += dz.Rows()
	m.dx = array.New(m.x.Shape...)
	for i := range dz.Rows() {
		for k, v := range m.slope(wide(m.x.Row(i)), wide(dz.Row(i))) {
			m.dx.Row(i)[k] = float32(v)
		}
	}
	return m.dx
}

// set is a Source over an array; Read of image `broken` fails if >= 0.
type set struct {
	x      *array.Array
	broken int
}

func (s set) Len() int             { return s.x.Rows() }
func (s set) Shape() (h, w, c int) { return s.x.Shape[1], s.x.Shape[2], s.x.Shape[3] }
func (s set) Read(i int, dst []float32) error {
	if i == s.broken {
		return errors.New("torn page")
	}
	copy(dst, s.x.Row(i))
	return nil
}

// newSet draws n images (3, 2, 1) around class centers.
func newSet(seed uint64, n, classes int) (set, []int32) {
	r := rng.New(seed, "set")
	center := array.New(classes, 6)
	for i := range center.Data {
		center.Data[i] = float32(r.Uniform(0.2, 0.8))
	}
	x := array.New(n, 3, 2, 1)
	labels := make([]int32, n)
	for i := range n {
		labels[i] = int32(i % classes)
		for k := range x.Row(i) {
			x.Row(i)[k] = min(1, max(0, center.Row(i % classes)[k]+float32(0.08*r.NormFloat64())))
		}
	}
	return set{x, -1}, labels
}

// plainES attacks image q as section 1.1 and 1.6 of the specification say, with
// sign steps from the clean image, and returns the embeddings of the last two
// iterates, and the last image. nudges (nil: published) move the clean embedding at
// the first iterate.
func (m *model) plainES(x0, nudges []float64, eps, step float64, iterations int) (previous, last, x []float64) {
	_, _, q0 := m.plain(x0)
	x = append([]float64(nil), x0...)
	for t := range iterations {
		_, _, z := m.plain(x)
		previous = z
		// loss = -pairwise_distance(z, q0 [+ 1e-7 at t = 0]), eps 1e-6 inside; fixed:
		// -|z - q0|, at t = 0 -|z - (q0 + nudge)|
		d, dz := 0.0, make([]float64, len(z))
		for k := range z {
			switch dz[k] = z[k] - q0[k]; {
			case nudges == nil && t == 0:
				dz[k] += 1e-6 - 1e-7
			case nudges == nil:
				dz[k] += 1e-6
			case t == 0:
				dz[k] -= nudges[k]
			}
			d += dz[k] * dz[k]
		}
		for k := range dz {
			dz[k] /= -math.Sqrt(d)
		}
		for k, g := range m.slope(x, dz) {
			if g > 0 {
				x[k] -= step
			} else if g < 0 {
				x[k] += step
			}
			x[k] = math.Max(math.Min(x[k], x0[k]+eps), x0[k]-eps)
			x[k] = math.Max(0, math.Min(1, x[k]))
		}
	}
	_, _, last = m.plain(x)
	return previous, last, x
}

// plainNudges are the fixed ES attack's of an item: 1e-7 times the signs that bits of
// the item's stream give, 0 for plus.
func plainNudges(seed uint64, item, d int) []float64 {
	r := rng.New(seed, "attack.ES.nudge", uint64(item))
	out := make([]float64, 0, d+63)
	for len(out) < d {
		for bits, n := r.Uint64(), 0; n < 64; bits, n = bits/2, n+1 {
			out = append(out, 1e-7*(1-2*float64(bits%2)))
		}
	}
	return out[:d]
}

// plainNearest returns the gallery item nearest to z other than masked.
func plainNearest(gallery *array.Array, z []float64, masked int) int {
	best, found := math.Inf(1), -1
	for j := range gallery.Rows() {
		d := 0.0
		for k, v := range gallery.Row(j) {
			d += (float64(v) - z[k]) * (float64(v) - z[k])
		}
		if j != masked && d < best {
			best, found = d, j
		}
	}
	return found
}
