package kernel_test

import (
	"math"
	"testing"

	"tercet/internal/engine/kernel"
)

func adam(t *testing.T) {
	r := newRand(22)
	for _, n := range lengths() {
		var x [4][]float32
		var check [4]func(t *testing.T, what string)
		for k := range x {
			x[k], check[k] = buffer(r, n)
		}
		p, g, m, v := x[0], x[1], x[2], x[3]
		for i := range v {
			v[i] *= v[i]
		}
		if n > 5 {
			g[1], g[2], g[3] = nan, inf, 0
			m[3], v[3] = 0, 0
		}
		f := kernel.AdamFactors{Keep: 0.99, L2: 0.01, Beta1: 0.9, Rest1: 0.1, Beta2: 0.999, Rest2: 0.001, Size: 1e-3, Eps: 1e-8}
		var want [4][]float32
		for i := range n {
			w := float32(f.Keep * p[i])
			d := g[i] + float32(f.L2*w)
			a := float32(f.Beta1*m[i]) + float32(f.Rest1*d)
			s := float32(f.Beta2*v[i]) + float32(float32(f.Rest2*d)*d)
			q := a / (float32(math.Sqrt(float64(s))) + f.Eps)
			want[0] = append(want[0], w-float32(f.Size*q))
			want[1], want[2], want[3] = append(want[1], g[i]), append(want[2], a), append(want[3], s)
		}
		kernel.AdamStep(&f, p, g, m, v)
		for k := range x {
			exactly(t, x[k], want[k], "AdamStep, slice %d", k)
			check[k](t, "AdamStep")
		}
	}
}

func sgd(t *testing.T) {
	r := newRand(23)
	f := kernel.SGDFactors{Keep: 0.99, L2: 0.01, Rate: 0.1, Momentum: 0.9}
	for _, n := range lengths() {
		for which := range 3 {
			p, checkP := buffer(r, n)
			g, checkG := buffer(r, n)
			buf, checkBuf := buffer(r, n)
			spice(r, g)
			wantP, wantBuf := append([]float32(nil), p...), append([]float32(nil), buf...)
			for i := range n {
				w := float32(f.Keep * p[i])
				d := g[i] + float32(f.L2*w)
				if which > 0 {
					wantBuf[i] = float32(f.Momentum*buf[i]) + d
					if which == 1 {
						d = wantBuf[i]
					} else {
						d += float32(f.Momentum * wantBuf[i])
					}
				}
				wantP[i] = w - float32(f.Rate*d)
			}
			if which == 0 {
				kernel.SGDStep(&f, p, g, nil, false)
			} else {
				kernel.SGDStep(&f, p, g, buf, which == 2)
			}
			exactly(t, p, wantP, "SGDStep %d", which)
			exactly(t, buf, wantBuf, "SGDStep %d, momentum", which)
			checkP(t, "SGDStep")
			checkG(t, "SGDStep")
			checkBuf(t, "SGDStep")
		}
	}
}

// signStep compares with the loops that PGD had.
func signStep(t *testing.T) {
	r := newRand(24)
	for _, n := range lengths() {
		for _, c := range []struct{ step, eps, low, high float32 }{
			{3.0 / 255, 8.0 / 255, 0, 1}, {-3.0 / 255, 8.0 / 255, 0, 1}, {0.5, 0.1, -2, 2}, {0.1, 0, 0, 1}, {0, 0.3, 0, 1},
		} {
			x, check := buffer(r, n)
			g, checkG := buffer(r, n)
			clean, checkClean := buffer(r, n)
			spice(r, g)
			for i := range clean {
				clean[i] = float32(r.Float64())
				if r.IntN(4) == 0 {
					clean[i] = []float32{0, 1, float32(math.Copysign(0, -1)), 0.5}[r.IntN(4)]
				}
				x[i] = clean[i] + c.eps*(2*r.Float32()-1)
				if r.IntN(4) == 0 {
					x[i] = clean[i]
				}
				if r.IntN(50) == 0 {
					x[i] = nan
				}
				if r.IntN(50) == 0 {
					clean[i] = nan
				}
			}
			want := append([]float32(nil), x...)
			for k, v := range g {
				switch {
				case v > 0:
					want[k] -= c.step
				case v < 0:
					want[k] += c.step
				}
			}
			for k, v := range clean {
				want[k] = min(max(want[k], v-c.eps, c.low), v+c.eps, c.high)
			}
			sameG, sameClean := unchanged(g), unchanged(clean)
			kernel.SignStep(x, g, clean, c.step, c.eps, c.low, c.high)
			exactly(t, x, want, "SignStep %+v", c)
			sameG(t, "SignStep")
			sameClean(t, "SignStep")
			check(t, "SignStep")
			checkG(t, "SignStep")
			checkClean(t, "SignStep")
		}
	}
}
