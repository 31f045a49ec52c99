package adversary

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/engine/array"
)

// plainAPGD is algorithm 1 of Croce & Hein (ICML 2020) for one image and the
// L-infinity ball, in float64, maximizing f = -objective, with the whole history
// of f kept as the paper writes it. grad returns f and its gradient.
func plainAPGD(x0 []float64, eps float64, iterations int, grad func(x []float64) (float64, []float64)) (best float64, reductions int) {
	clip := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for k, v := range x {
			v = math.Max(math.Min(v, x0[k]+eps), x0[k]-eps)
			out[k] = math.Max(0, math.Min(1, v))
		}
		return out
	}
	var checkpoints []int // w_j
	for w, p := 0, max(int(0.22*float64(iterations)), 1); w+p <= iterations; {
		w += p
		checkpoints = append(checkpoints, w)
		p = max(p-max(int(0.03*float64(iterations)), 1), max(int(0.06*float64(iterations)), 1))
	}
	step := 2 * eps
	x := append([]float64(nil), x0...)
	before := append([]float64(nil), x0...)
	value, g := grad(x)
	f := []float64{value}
	best = value
	bestX, bestG := x, g
	last, lastReduced, lastBest := 0, true, best
	for k := range iterations {
		z := make([]float64, len(x))
		for i := range x {
			z[i] = x[i]
			if g[i] > 0 {
				z[i] += step
			} else if g[i] < 0 {
				z[i] -= step
			}
		}
		z = clip(z)
		next := z
		if k > 0 {
			next = make([]float64, len(x))
			for i := range x {
				next[i] = x[i] + 0.75*(z[i]-x[i]) + 0.25*(x[i]-before[i])
			}
			next = clip(next)
		}
		before, x = x, next
		value, g = grad(x)
		f = append(f, value)
		if value > best {
			best, bestX, bestG = value, x, g
		}
		for _, w := range checkpoints {
			if w != k+1 {
				continue
			}
			rises := 0
			for i := last; i < w; i++ {
				if f[i+1] > f[i] {
					rises++
				}
			}
			one := float64(rises) <= 0.75*float64(w-last)
			two := !lastReduced && lastBest >= best
			last, lastReduced, lastBest = w, one || two, best
			if one || two {
				step /= 2
				x, g = bestX, bestG
				reductions++
			}
		}
	}
	return best, reductions
}

func TestAutoStepAgainstThePaper(t *testing.T) {
	v := []float64{1, -1, 2, 0.5}
	reductions := map[int]bool{}
	for seed := range uint64(8) {
		m := newNet(40+seed, 8, 12, 4, true, 1.5)
		f := func(x []float64) (float64, []float64) {
			value, g := 0.0, make([]float64, len(x))
			for a, w := range m.w1 {
				s := 0.0
				for k := range x {
					s += w[k] * x[k]
				}
				out := 0.0
				for b := range m.w2 {
					out += v[b] * m.w2[b][a]
				}
				value -= out * math.Tanh(s)
				for k := range x {
					g[k] -= out * (1 - math.Tanh(s)*math.Tanh(s)) * w[k]
				}
			}
			return value, g
		}
		x := images(seed, 3, 0, 1)
		for _, iterations := range []int{1, 5, 20, 50, 100} {
			p := base()
			p.Eps, p.Rule, p.Keep, p.Iterations = 0.3, Auto, Best, iterations
			_, r := run(t, p, m, x, along{v}, 0)
			for i := range x.Rows() {
				x0 := make([]float64, 8)
				for k, c := range x.Row(i) {
					x0[k] = float64(c)
				}
				want, n := plainAPGD(x0, p.Eps, iterations, f)
				reductions[n] = true
				if math.Abs(-r.Objective[i]-want) > 2e-3*(1+math.Abs(want)) {
					t.Errorf("net %d image %d, %d steps: objective %v, the paper's algorithm gives %v", seed, i, iterations, r.Objective[i], -want)
				}
			}
		}
	}
	if len(reductions) < 4 {
		t.Errorf("the cases hardly differ: numbers of halvings %v", reductions)
	}
}

// history records the iterates by their embeddings.
type history struct {
	along
	z [][]float32
}

func (h *history) Eval(z *array.Array, per []float64, grad *array.Array) error {
	h.z = append(h.z, append([]float32(nil), z.Row(0)...))
	return h.along.Eval(z, per, grad)
}

// On z = x with objective x . v, v > 0, from x0 = 1/2 and eps 0.25 the steps are
// known: 2 eps down lands on the ball's border; the momentum then keeps it there.
func TestAutoStepByHand(t *testing.T) {
	m := newNet(1, 8, 8, 8, false, 0)
	for k := range 8 {
		clear(m.w2[k])
		m.w1[k][k], m.w2[k][k] = 1, 1
	}
	x := array.New(1, 2, 2, 2)
	for k := range x.Data {
		x.Data[k] = 0.5
	}
	g := &history{along: along{[]float64{1, 1, 1, 1, 1, 1, 1, 1}}}
	p := base()
	p.Eps, p.Rule, p.Iterations = 0.25, Auto, 3
	if _, r := run(t, p, m, x, g, 0); r.Objective[0] != 2 {
		t.Error(r.Objective)
	}
	got := ""
	for _, z := range g.z {
		got += fmt.Sprint(z[3], " ")
	}
	if got != "0.5 0.25 0.25 0.25 " {
		t.Error(got)
	}
}
