package bound

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// The bound of a norm is above what power iteration, a bound from below, finds, and close.
func TestSpectralNorm(t *testing.T) {
	t.Parallel()
	r := rng.New(1, "spectral")
	for _, shape := range [][2]int{{1, 1}, {40, 7}, {7, 40}, {300, 60}, {60, 300}} {
		n, d := shape[0], shape[1]
		w := make([]float32, n*d)
		for i := range w {
			w[i] = float32(r.NormFloat64())
		}
		v := make([]float64, d)
		for i := range v {
			v[i] = 1 + r.Float64()
		}
		norm := 0.0
		for range 400 {
			u, next, size := make([]float64, n), make([]float64, d), 0.0
			for i := range n {
				for k := range d {
					u[i] += float64(w[i*d+k]) * v[k]
				}
				for k := range d {
					next[k] += float64(w[i*d+k]) * u[i]
				}
			}
			for _, x := range next {
				size += x * x
			}
			norm = math.Sqrt(math.Sqrt(size))
			for k := range v {
				v[k] = next[k] / math.Sqrt(size)
			}
		}
		if got := spectral(w, n, d); got < norm || got > 1.03*norm {
			t.Errorf("%d x %d: %v, by power iteration %v", n, d, got, norm)
		}
	}
	if got := spectral(make([]float32, 6), 2, 3); got != 0 {
		t.Errorf("zeros: %v", got)
	}
}

// No image within the ball has features farther away, computed in float64.
func TestNothingIsFartherThanLipschitz(t *testing.T) {
	t.Parallel()
	for name, s := range models {
		m := build(t, s)
		net, err := New(m)
		if err != nil {
			t.Fatal(err)
		}
		l := NewLipschitz(net)
		x := pictures(m, 1)
		net.Features(x, []float64{0})
		way := l.At(0)
		clean := plainFeatures(t, m, x.Row(0), 0)
		if name == "no linear" {
			values := plainValues(t, m, x.Row(0), 0)
			clean = values[len(values)-1]
		}
		if name == "linear" && (way.Slope < 1 || way.Slope > 1.0001) {
			t.Errorf("linear: features are the pixels, and the bound is %v", way)
		}
		r := rng.New(2, name)
		for _, eps := range []float64{1e-3, 0.5} {
			for range 3 {
				y, size := x.Clone(), 0.0
				for i, v := range x.Data {
					y.Data[i] = min(1, max(0, v+float32(2*eps*(2*r.Float64()-1))))
					size += math.Pow(float64(y.Data[i])-float64(v), 2)
				}
				moved := plainFeatures(t, m, y.Row(0), 0)
				if name == "no linear" {
					values := plainValues(t, m, y.Row(0), 0)
					moved = values[len(values)-1]
				}
				far := 0.0
				for k := range moved {
					far += math.Pow(moved[k].lo-clean[k].lo, 2)
				}
				if most := way.Slope*math.Sqrt(size) + way.Offset; math.Sqrt(far) > most {
					t.Errorf("%s: pixels move %v and features %v, more than %v", name, math.Sqrt(size), math.Sqrt(far), most)
				}
			}
		}
	}
}
