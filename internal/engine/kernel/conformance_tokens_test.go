package kernel_test

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// normalBelow is the probability that a normal number is below x.
func normalBelow(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func gelus(t *testing.T) {
	r := newRand(41)
	for _, k := range []struct {
		name string
		run  func(x, dy, out []float32)
		want func(x, dy float64) float64
	}{
		{"GELU", func(x, _, out []float32) { kernel.GELU(x, out) }, func(x, _ float64) float64 { return x * normalBelow(x) }},
		{"GELUBackward", kernel.GELUBackward, func(x, dy float64) float64 {
			return dy * (normalBelow(x) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
		}},
	} {
		for _, n := range lengths() {
			x, checkX := buffer(r, n)
			dy, checkDY := buffer(r, n)
			out, check := buffer(r, n)
			for i := range x {
				x[i] *= 3
			}
			k.run(x, dy, out)
			for i, v := range x {
				want := k.want(float64(v), float64(dy[i]))
				if most := 4e-7 * (math.Abs(float64(v)) + math.Abs(float64(dy[i])) + 1e-3); !(math.Abs(float64(out[i])-want) <= most) {
					t.Fatalf("%s(%g, %g) is %g, want %g to %g", k.name, v, dy[i], out[i], want, most)
				}
			}
			for i := range x { // an element's bits do not depend on its place
				one := []float32{0}
				k.run(x[i:i+1], dy[i:i+1], one)
				exactly(t, out[i:i+1], one, "%s in a slice of %d at %d", k.name, n, i)
				if i > 200 {
					break
				}
			}
			wide := slices.Clone(out)
			onLevel(t, kernel.AVX2, func() { k.run(x, dy, wide) })
			exactly(t, out, wide, "%s on AVX2", k.name)
			k.run(x, dy, x)
			exactly(t, x, out, "%s in place", k.name)
			check(t, k.name)
			checkX(t, k.name)
			checkDY(t, k.name)
		}
		x, out := slices.Clone(special), make([]float32, len(special))
		k.run(x, x, out)
		for i, v := range x {
			if v != v && out[i] == out[i] {
				t.Errorf("%s(%g) is %g", k.name, v, out[i])
			}
		}
	}
	y := make([]float32, 1)
	if kernel.GELU([]float32{inf}, y); y[0] != inf {
		t.Errorf("GELU(+Inf) is %g", y[0])
	}
	// Phi itself, between the numbers above.
	for v := float32(-12); v <= 12; v += 1. / 64 {
		kernel.GELU([]float32{v}, y)
		if want := float64(v) * normalBelow(float64(v)); !(math.Abs(float64(y[0])-want) <= 3e-7*math.Max(0.1, math.Abs(float64(v)))) {
			t.Errorf("GELU(%v) is %v, want %v", v, y[0], want)
		}
	}
}

// onLevel runs f on that level, or on the level in use where that is Generic, whose
// exponential function is another.
func onLevel(t *testing.T, l kernel.Level, f func()) {
	t.Helper()
	if kernel.Current() != kernel.Generic {
		restore, err := kernel.Force(l)
		if err != nil {
			t.Fatal(err)
		}
		defer restore()
	}
	f()
}

// layerNorms are float64 loops up to float32 rounding, with the same bits on all levels.
func layerNorms(t *testing.T) {
	const n, eps = 3, 1e-5
	r := newRand(42)
	for _, d := range append(lengths()[1:70], 384) {
		x, check := buffer(r, n*d)
		dy, checkDY := buffer(r, n*d)
		y, checkY := buffer(r, n*d)
		z, checkZ := buffer(r, n*d)
		dx, checkDX := buffer(r, n*d)
		scale, _ := buffer(r, d)
		shift, _ := buffer(r, d)
		inv := make([]float32, n)
		kernel.Standardize(n, d, x, eps, y, inv)
		kernel.ScaleShift(n, d, y, scale, shift, z)
		kernel.StandardizeBackward(n, d, y, inv, dy, dx)
		for row := range n {
			from, to := row*d, (row+1)*d
			mean := moment(x[from:to], func(_ int, v float64) float64 { return v })
			vari := moment(x[from:to], func(_ int, v float64) float64 { return (v - mean) * (v - mean) })
			sd := math.Sqrt(vari + eps)
			mdy := moment(dy[from:to], func(_ int, v float64) float64 { return v })
			along := moment(dy[from:to], func(i int, v float64) float64 { return v * (float64(x[from+i]) - mean) / sd })
			for i := from; i < to; i++ {
				hat := (float64(x[i]) - mean) / sd
				size := (math.Abs(float64(x[i])) + math.Abs(mean)) / sd
				near(t, y[i], hat, 1+size, 8, "Standardize %d", d)
				near(t, z[i], float64(y[i])*float64(scale[i-from])+float64(shift[i-from]), 10, 4, "ScaleShift %d", d)
				near(t, dx[i], (float64(dy[i])-mdy-hat*along)/sd, (10+10*size*size)/sd, 8, "StandardizeBackward %d", d)
			}
		}
		a, b, c := make([]float32, n*d), make([]float32, n*d), make([]float32, n*d)
		plain(t, func() {
			kernel.Standardize(n, d, x, eps, a, inv)
			kernel.ScaleShift(n, d, a, scale, shift, b)
			kernel.StandardizeBackward(n, d, a, inv, dy, c)
		})
		exactly(t, y, a, "Standardize %d", d)
		exactly(t, z, b, "ScaleShift %d", d)
		exactly(t, dx, c, "StandardizeBackward %d", d)
		kernel.ScaleShift(n, d, a, scale, nil, a)
		plain(t, func() { kernel.ScaleShift(n, d, y, scale, nil, y) })
		exactly(t, a, y, "ScaleShift without shift %d", d)
		for _, f := range []func(*testing.T, string){check, checkDY, checkY, checkZ, checkDX} {
			f(t, "layer normalization")
		}
	}
}

// moment is the mean of f over x.
func moment(x []float32, f func(i int, v float64) float64) float64 {
	s := 0.0
	for i, v := range x {
		s += f(i, float64(v))
	}
	return s / float64(len(x))
}

// attentions are their definition, for rows of scores of many lengths.
func attentions(t *testing.T) {
	const heads, dim, n = 2, 5, 2
	r := newRand(43)
	for _, tokens := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50} {
		a := kernel.Attention{Tokens: tokens, Heads: heads, Dim: dim}
		width := heads * dim
		qkv, checkQKV := buffer(r, n*tokens*3*width)
		p, checkP := buffer(r, n*heads*tokens*tokens)
		out, check := buffer(r, n*tokens*width)
		a.Forward(n, qkv, p, out)
		first := slices.Clone(out)
		onThreads(func(threads int) {
			a.Forward(n, qkv, p, out)
			exactly(t, out, first, "Attention of %d tokens on %d threads", tokens, threads)
		})
		for _, f := range []func(*testing.T, string){checkQKV, checkP, check} {
			f(t, "Attention")
		}
		for image := range n {
			for head := range heads {
				for q := range tokens {
					at := func(token, part, i int) float64 {
						return float64(qkv[(image*tokens+token)*3*width+part*width+head*dim+i])
					}
					weights, sum := make([]float64, tokens), 0.0
					for k := range tokens {
						dot := 0.0
						for i := range dim {
							dot += at(q, 0, i) * at(k, 1, i)
						}
						weights[k] = math.Exp(dot / math.Sqrt(dim))
						sum += weights[k]
					}
					for i := range dim {
						want := 0.0
						for k, w := range weights {
							want += w / sum * at(k, 2, i)
						}
						near(t, out[(image*tokens+q)*width+head*dim+i], want, 20, 20, "Attention of %d tokens", tokens)
					}
				}
			}
		}
	}
}
