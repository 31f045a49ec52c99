package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// bits: threads change no bit, and an image's output and input gradient do not
// depend on the other images.
func (impl Winograd) bits(t *testing.T) {
	for _, g := range []kernel.Conv{square(14, 20, 40, 3, 1), square(9, 300, 36, 3, 1), square(10, 17, 70, 5, 2)} {
		for _, alg := range algorithms {
			const n = 4
			r := newRand(8)
			x, _ := guardedRandom(r, n*g.H*g.W*g.C)
			w, _ := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
			bias, _ := guardedRandom(r, g.OutC)
			dy, _ := guardedRandom(r, n*g.H*g.W*g.OutC)
			var first passes
			onThreads(func(threads int) {
				p := impl.all(g, alg, n, x, w, bias, dy, make([]float32, len(w)))
				if first.y == nil {
					first = p
				}
				what := fmt.Sprintf("%v of %+v, %d threads", alg, g, threads)
				sameBits(t, p.y, first.y, what+": y")
				sameBits(t, p.dx, first.dx, what+": dx")
				sameBits(t, p.dw, first.dw, what+": dw")
			})
			alone := impl.all(g, alg, 1, x[:len(x)/n], w, bias, dy[:len(dy)/n], make([]float32, len(w)))
			sameBits(t, alone.y, first.y, "first image alone: y")
			sameBits(t, alone.dx, first.dx, "first image alone: dx")
		}
	}
}

// relu: the same as the maximum with 0 afterwards, with and without bias; a NaN
// stays one.
func (impl Winograd) relu(t *testing.T) {
	g := square(7, 5, 21, 3, 1)
	r := newRand(9)
	x, _ := guardedRandom(r, g.H*g.W*g.C)
	w, _ := guardedRandom(r, 9*g.C*g.OutC)
	full, _ := guardedRandom(r, g.OutC)
	full[3] = nan
	for _, alg := range algorithms {
		for _, bias := range [][]float32{nil, full} {
			plain, cut := make([]float32, g.H*g.W*g.OutC), make([]float32, g.H*g.W*g.OutC)
			impl.Forward(g, alg, 1, x, w, bias, false, plain)
			impl.Forward(g, alg, 1, x, w, bias, true, cut)
			for i, v := range plain {
				if isNaN := bias != nil && i%g.OutC == 3; isNaN != (v != v) || isNaN != (cut[i] != cut[i]) {
					t.Fatalf("%v: y[%d] is %g, after ReLU %g", alg, i, v, cut[i])
				} else if !isNaN && cut[i] != max(v, 0) {
					t.Fatalf("%v: y[%d] is %g, after ReLU %g", alg, i, v, cut[i])
				}
			}
		}
	}
}

func (impl Winograd) empty(t *testing.T) {
	for _, k := range []int{3, 5} {
		g := square(7, 2, 3, k, 1)
		w := make([]float32, k*k*6)
		dw := []float32{1, 2, 3}
		dw = append(dw, w[3:]...)
		before := slices.Clone(dw)
		for _, alg := range algorithms {
			impl.Forward(g, alg, 0, nil, w, nil, true, nil)
			impl.Input(g, alg, 0, nil, w, nil)
			impl.Weights(g, alg, 0, nil, nil, dw)
			sameBits(t, dw, before, "no images")
		}
	}
}

// nonFinite: a NaN or an infinity in x reaches every output whose patch holds it
// and no tile that does not see it; one in w spoils its channel, one in the bias
// its own; in a gradient of the weights it spoils its channel.
func (impl Winograd) nonFinite(t *testing.T) {
	for _, k := range []int{3, 5} {
		g := square(17, 3, 4, k, k/2)
		for _, alg := range algorithms {
			for _, bad := range []float32{nan, float32(math.Inf(1)), float32(math.Inf(-1))} {
				impl.nonFiniteInput(t, g, alg, bad)
				impl.nonFiniteWeight(t, g, alg, bad)
			}
		}
	}
}

func spoilt(v float32) bool { return v-v != 0 }

func (impl Winograd) nonFiniteInput(t *testing.T, g kernel.Conv, alg kernel.Algorithm, bad float32) {
	// A tile and what it sees are at most 8 wide.
	const reach = 8
	r := newRand(10)
	w, _ := guardedRandom(r, g.KH*g.KW*g.C*g.OutC)
	dy, _ := guardedRandom(r, g.H*g.W*g.OutC)
	x, y, dw := make([]float32, g.H*g.W*g.C), make([]float32, len(dy)), make([]float32, len(w))
	for _, at := range [][2]int{{0, 0}, {7, 8}, {16, 16}, {3, 12}} {
		clear(x)
		x[(at[0]*g.W+at[1])*g.C+1] = bad
		impl.Forward(g, alg, 1, x, w, nil, false, y)
		for i, v := range y {
			down, right := i/g.OutC/g.W-at[0], i/g.OutC%g.W-at[1]
			far := max(down, -down, right, -right)
			if far <= g.KH/2 && !spoilt(v) || far >= reach && spoilt(v) {
				t.Fatalf("%v, %g in x at %v: y is %g, %d away", alg, bad, at, v, far)
			}
		}
		clear(dw)
		impl.Weights(g, alg, 1, x, dy, dw)
		for i, v := range dw {
			if hit := i/g.OutC%g.C == 1; hit != spoilt(v) {
				t.Fatalf("%v, %g in x at %v: dw[%d] is %g", alg, bad, at, i, v)
			}
		}
	}
}

func (impl Winograd) nonFiniteWeight(t *testing.T, g kernel.Conv, alg kernel.Algorithm, bad float32) {
	r := newRand(11)
	x, _ := guardedRandom(r, g.H*g.W*g.C)
	w, y, dx := make([]float32, g.KH*g.KW*g.C*g.OutC), make([]float32, g.H*g.W*g.OutC), make([]float32, len(x))
	dy, _ := guardedRandom(r, len(y))
	w[(4*g.C+1)*g.OutC+2] = bad
	impl.Forward(g, alg, 1, x, w, nil, false, y)
	for i, v := range y {
		if hit := i%g.OutC == 2; hit != spoilt(v) {
			t.Fatalf("%v, %g in w: y[%d] is %g", alg, bad, i, v)
		}
	}
	impl.Input(g, alg, 1, dy, w, dx)
	for i, v := range dx {
		if hit := i%g.C == 1; hit != spoilt(v) {
			t.Fatalf("%v, %g in w: dx[%d] is %g", alg, bad, i, v)
		}
	}
}
