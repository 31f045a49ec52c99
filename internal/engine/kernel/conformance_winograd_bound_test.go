package kernel_test

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// errorBound compares with the bound that holds for every input: each of the
// products and sums of one output is rounded, so that its error is at most a
// number of roundings times
//
//	|Aᵀ| [ sum over channels of (|G| |w| |Gᵀ|) .* (|Bᵀ| |d| |B|) ] |A|,
//
// the sum that an output would be without cancellation. The inputs have
// magnitudes from 1e-6 to 1e6, the kernel's and the image's in opposite order,
// so that large numbers must cancel where small ones are wanted.
func (impl Winograd) errorBound(t *testing.T) {
	for _, c := range []struct {
		k, m   int
		alg    kernel.Algorithm
		points []float64
	}{
		{3, 2, kernel.Winograd2, []float64{0, 1, -1}},
		{3, 4, kernel.Winograd4, []float64{0, 0.625, -0.625, 1.5, -1.5}},
		{5, 2, kernel.Winograd2, []float64{0, 0.625, -0.625, 1.5, -1.5}},
		{5, 4, kernel.Winograd4, []float64{0, 0.5, -0.5, 1, -1, 2, -2}},
	} {
		g := square(9, 6, 5, c.k, c.k/2)
		r := newRand(12)
		x, _ := guardedRandom(r, g.H*g.W*g.C)
		w, _ := guardedRandom(r, c.k*c.k*g.C*g.OutC)
		for i := range x {
			x[i] *= float32(math.Pow(10, 12*r.Float64()-6))
		}
		for i := range w {
			w[i] *= float32(math.Pow(10, 12*r.Float64()-6))
		}
		y := make([]float32, g.H*g.W*g.OutC)
		impl.Forward(g, c.alg, 1, x, w, nil, false, y)
		ref := newReference(g, 1, x, w, nil, y)
		bound := newVandermonde(c.points, c.m, c.k).magnitudes(g, x, w)
		roundings := float64(g.C + 4*(c.m+c.k))
		for i, v := range y {
			if e := math.Abs(float64(v) - ref.y[i]); !(e <= roundings*eps*bound[i]) {
				t.Fatalf("%v %dx%d: y[%d] is off by %g, the bound is %g", c.alg, c.k, c.k, i, e, roundings*eps*bound[i])
			}
		}
	}
}

// vandermonde holds the magnitudes of Winograd's matrices in the form without
// scales: A and G are powers of the points, the last row that of infinity, and
// Bᵀ is the transposed inverse of the square one. Scales of the rows would cancel
// in the bound.
type vandermonde struct {
	m, r     int
	a, g, bt [][]float64
}

func powersOf(points []float64, cols int) [][]float64 {
	var v [][]float64
	for _, p := range points {
		row := make([]float64, cols)
		for k := range row {
			row[k] = math.Pow(p, float64(k))
		}
		v = append(v, row)
	}
	last := make([]float64, cols)
	last[cols-1] = 1
	return append(v, last)
}

func newVandermonde(points []float64, m, r int) vandermonde {
	n := len(points) + 1
	inverse := invert(powersOf(points, n))
	bt := make([][]float64, n)
	for i := range bt {
		for j := range n {
			bt[i] = append(bt[i], inverse[j][i])
		}
	}
	return vandermonde{m, r, magnitude(powersOf(points, m)), magnitude(powersOf(points, r)), magnitude(bt)}
}

// invert inverts a matrix by elimination with row exchanges.
func invert(m [][]float64) [][]float64 {
	n := len(m)
	work := make([][]float64, n)
	for i, row := range m {
		work[i] = append(slices.Clone(row), make([]float64, n)...)
		work[i][n+i] = 1
	}
	for c := range n {
		best := c
		for i := c; i < n; i++ {
			if math.Abs(work[i][c]) > math.Abs(work[best][c]) {
				best = i
			}
		}
		work[c], work[best] = work[best], work[c]
		for i := range n {
			f := work[i][c] / work[c][c]
			if i == c {
				f = 1 - 1/work[c][c]
			}
			for j := range work[i] {
				work[i][j] -= f * work[c][j]
			}
		}
	}
	for i := range work {
		work[i] = work[i][n:]
	}
	return work
}

func magnitude(m [][]float64) [][]float64 {
	for _, row := range m {
		for j := range row {
			row[j] = math.Abs(row[j])
		}
	}
	return m
}

// both returns l * s * lᵀ for a square s given by at.
func both(l [][]float64, at func(p, q int) float64) [][]float64 {
	out := make([][]float64, len(l))
	for i := range l {
		out[i] = make([]float64, len(l))
		for j := range l {
			for p, u := range l[i] {
				for q, v := range l[j] {
					out[i][j] += u * v * at(p, q)
				}
			}
		}
	}
	return out
}

// magnitudes returns the bound's sum for every output of one image.
func (v vandermonde) magnitudes(g kernel.Conv, x, w []float32) []float64 {
	out := make([]float64, g.H*g.W*g.OutC)
	at := make([][]float64, v.m)
	for i := range at {
		for p := range v.a {
			at[i] = append(at[i], v.a[p][i])
		}
	}
	for y0 := 0; y0 < g.H; y0 += v.m {
		for x0 := 0; x0 < g.W; x0 += v.m {
			for o := range g.OutC {
				sum := make([][]float64, len(v.a))
				for i := range sum {
					sum[i] = make([]float64, len(v.a))
				}
				for c := range g.C {
					d := both(v.bt, func(p, q int) float64 {
						yy, xx := y0-g.PadH+p, x0-g.PadW+q
						if yy < 0 || yy >= g.H || xx < 0 || xx >= g.W {
							return 0
						}
						return math.Abs(float64(x[(yy*g.W+xx)*g.C+c]))
					})
					u := both(v.g, func(p, q int) float64 {
						return math.Abs(float64(w[((p*v.r+q)*g.C+c)*g.OutC+o]))
					})
					for i := range sum {
						for j := range sum {
							sum[i][j] += d[i][j] * u[i][j]
						}
					}
				}
				tile := both(at, func(p, q int) float64 { return sum[p][q] })
				for i := range v.m {
					for j := range v.m {
						if y0+i < g.H && x0+j < g.W {
							out[((y0+i)*g.W+x0+j)*g.OutC+o] = tile[i][j]
						}
					}
				}
			}
		}
	}
	return out
}
