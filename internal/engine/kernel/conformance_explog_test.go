package kernel_test

import (
	"math"
	"testing"

	"tercet/internal/engine/kernel"
)

// ulps returns the error in units in the last place of a float32.
func ulps(got float32, want float64) float64 {
	nearest := float32(want)
	switch {
	case nearest == got || nearest != nearest && got != got:
		return math.Abs(float64(nearest)-want) / unit(want)
	case math.IsInf(float64(nearest), 0) || math.IsInf(float64(got), 0) || got != got || nearest != nearest:
		return math.Inf(1)
	}
	return math.Abs(float64(got)-want) / unit(want)
}

func unit(v float64) float64 {
	if math.IsInf(v, 0) || v != v {
		return 1
	}
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(e-24, -149))
}

func expAndLog(t *testing.T) {
	r := newRand(25)
	for _, k := range []struct {
		name string
		run  func(x, y []float32)
		want func(float64) float64
		most float64
		edge []float32
	}{
		{"Exp", kernel.Exp, math.Exp, 1.01, []float32{88.72283, 88.72284, 88.73, 89, 1000, -87.3, -103.2, -103.9, -104, -1000, -1e-30}},
		{"Log", kernel.Log, math.Log, 0.8, []float32{1.0000001, 0.99999994, 2, 0.70710678, 1.4142135, 3e-45, 0x1p-126}},
	} {
		check := func(x []float32, y []float32) {
			t.Helper()
			for i, v := range x {
				want := k.want(float64(v))
				if u := ulps(y[i], want); want == want && !math.IsInf(want, 0) && !math.IsInf(float64(float32(want)), 0) && !(u <= k.most) {
					t.Fatalf("%s(%g) is %g, want %g: off by %.3g units", k.name, v, y[i], want, u)
				} else if float32(want) != y[i] && (want != want || math.IsInf(float64(float32(want)), 0)) && !(want != want && y[i] != y[i]) {
					t.Fatalf("%s(%g) is %g, want %g", k.name, v, y[i], want)
				}
			}
		}
		// Numbers of all sizes and signs, NaN among them.
		const block = 4096
		x, y := make([]float32, block), make([]float32, block)
		step := uint64(40009)
		if testing.Short() {
			step *= 16
		}
		for i := uint64(0); i < 1<<32; {
			n := 0
			for ; n < block && i < 1<<32; n++ {
				x[n] = math.Float32frombits(uint32(i))
				i += step
			}
			k.run(x[:n], y[:n])
			check(x[:n], y[:n])
		}
		edge := append(append([]float32(nil), k.edge...), special...)
		k.run(edge, y)
		check(edge, y[:len(edge)])
		// An element's bits do not depend on its place.
		for _, n := range lengths() {
			x, checkX := buffer(r, n)
			y, checkY := buffer(r, n)
			spice(r, x)
			k.run(x, y)
			checkX(t, k.name)
			checkY(t, k.name)
			for i, v := range x {
				one := []float32{v}
				k.run(one, one)
				exactly(t, y[i:i+1], one, "%s in a slice of %d at %d", k.name, n, i)
			}
		}
	}
	one := []float32{0, 1}
	kernel.Exp(one[:1], one[:1])
	kernel.Log(one[1:], one[1:])
	exactly(t, one, []float32{1, 0}, "exp(0), log(1)")
}
