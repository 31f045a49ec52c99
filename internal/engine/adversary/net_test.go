package adversary

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// net is z = W2 f(W1 x), f the identity or tanh, row by row in float64.
type net struct {
	w1, w2         [][]float64 // (hidden, n), (D, hidden)
	tanh           bool
	h              [][]float64
	z, dx          *array.Array
	forward, back  int
	poison         bool // NaN in the input gradient
	mode           nn.Mode
	weightsWereAsk bool
}

func newNet(seed uint64, n, hidden, d int, tanh bool, gain float64) *net {
	r := rng.New(seed, "net")
	m := &net{tanh: tanh}
	fill := func(a, b int, s float64) [][]float64 {
		w := make([][]float64, a)
		for i := range w {
			w[i] = make([]float64, b)
			for j := range w[i] {
				w[i][j] = s * r.NormFloat64()
			}
		}
		return w
	}
	m.w1, m.w2 = fill(hidden, n, gain), fill(d, hidden, 1)
	return m
}

func (m *net) Dim() int            { return len(m.w2) }
func (m *net) Params() []*nn.Param { return nil }

func (m *net) Embed(x *array.Array, mode nn.Mode) *array.Array {
	m.forward++
	m.mode = mode
	if m.z == nil || m.z.Rows() != x.Rows() {
		m.z = array.New(x.Rows(), m.Dim())
		m.dx = array.New(x.Shape...)
		m.h = make([][]float64, x.Rows())
		for i := range m.h {
			m.h[i] = make([]float64, len(m.w1))
		}
	}
	for i := range x.Rows() {
		row := x.Row(i)
		for a, w := range m.w1 {
			s := 0.0
			for k, v := range row {
				s += w[k] * float64(v)
			}
			if m.tanh {
				s = math.Tanh(s)
			}
			m.h[i][a] = s
		}
		for b, w := range m.w2 {
			s := 0.0
			for a, v := range m.h[i] {
				s += w[a] * v
			}
			m.z.Row(i)[b] = float32(s)
		}
	}
	return m.z
}

func (m *net) Backward(dz *array.Array, need nn.Need) *array.Array {
	m.back++
	m.weightsWereAsk = m.weightsWereAsk || need != nn.Input
	for i := range dz.Rows() {
		dx := m.dx.Row(i)
		clear(dx)
		for a, w := range m.w1 {
			s := 0.0
			for b := range m.w2 {
				s += m.w2[b][a] * float64(dz.Row(i)[b])
			}
			if m.tanh {
				s *= 1 - m.h[i][a]*m.h[i][a]
			}
			for k := range dx {
				dx[k] += float32(s * w[k])
			}
		}
	}
	if m.poison {
		m.dx.Row(m.dx.Rows() - 1)[2] = float32(math.NaN())
	}
	return m.dx
}

// along is the goal z . v.
type along struct{ v []float64 }

func (g along) Eval(z *array.Array, per []float64, grad *array.Array) error {
	for i := range z.Rows() {
		per[i] = 0
		for k, x := range z.Row(i) {
			per[i] += float64(x) * g.v[k]
			if grad != nil {
				grad.Row(i)[k] = float32(g.v[k])
			}
		}
	}
	return nil
}

// images draws n images (2, 2, 2) with pixels in [lo, hi].
func images(seed uint64, n int, lo, hi float64) *array.Array {
	r := rng.New(seed, "images")
	x := array.New(n, 2, 2, 2)
	for i := range x.Data {
		x.Data[i] = float32(r.Uniform(lo, hi))
	}
	return x
}

func ids(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(100 + 7*i)
	}
	return out
}

func base() PGD {
	return PGD{Norm: Linf, Eps: 0.1, Step: 0.02, Iterations: 12, Direction: Sign, Rule: Fixed, Start: FromClean, Restarts: 1, Keep: Last, Mode: nn.Eval}
}

func run(t *testing.T, p PGD, m nn.Embedder, x *array.Array, g Goal, seed uint64) (*array.Array, *Report) {
	t.Helper()
	out := array.New(x.Shape...)
	r, err := p.Run(m, x, ids(x.Rows()), g, seed, out)
	if err != nil {
		t.Fatal(err)
	}
	return out, r
}
