package kernel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// gram: exactly symmetric, the bits of Gemm, nothing outside C.
func (impl Implementation) gram(t *testing.T) {
	r := newRand(11)
	for _, s := range []struct{ n, k, padX, padC int }{
		{1, 1, 0, 0}, {2, 3, 1, 1}, {4, 5, 0, 0}, {15, 7, 2, 0}, {33, 40, 0, 3}, {47, 400, 1, 0}, {64, 64, 0, 0}, {150, 90, 0, 1}, {3, 0, 0, 2}, {400, 70, 0, 0},
	} {
		what := fmt.Sprintf("%+v", s)
		x := newMatrix(r, s.n, s.k, s.padX)
		c, want := newMatrix(r, s.n, s.n, s.padC), newMatrix(r, s.n, s.n, s.padC)
		for i := range c.data {
			c.data[i] = nan
		}
		impl.Gemm(false, true, s.n, s.n, s.k, 1, x.data, x.ld, x.data, x.ld, 0, want.data, want.ld)
		var first []float32
		onThreads(func(threads int) {
			impl.Gram(s.n, s.k, x.data, x.ld, c.data, c.ld)
			if first == nil {
				first = slices.Clone(c.data)
			}
			for i := range s.n {
				sameBits(t, c.data[i*c.ld:][:s.n], first[i*c.ld:][:s.n], fmt.Sprintf("%s, %d threads", what, threads))
			}
		})
		for i := range s.n {
			// In tiles, the product of rows i and j has other bits than that of j and i.
			from := 0
			if kernel.Current() == kernel.AMX {
				from = i
			}
			sameBits(t, c.data[i*c.ld:][from:s.n], want.data[i*c.ld:][from:s.n], what+", against Gemm")
			for j := range i {
				if math.Float32bits(c.data[i*c.ld+j]) != math.Float32bits(c.data[j*c.ld+i]) {
					t.Fatalf("%s: not symmetric at (%d, %d)", what, i, j)
				}
			}
			for j := range s.n {
				var sum, size float64
				for p := range s.k {
					v := x.at(false, i, p) * x.at(false, j, p)
					sum += v
					size += math.Abs(v)
				}
				near(t, c.data[i*c.ld+j], sum, size, s.k, "%s at (%d, %d)", what, i, j)
			}
		}
		for i, v := range c.data {
			if i%c.ld >= s.n && v == v {
				t.Fatalf("%s: wrote %g between the rows of C, at %d", what, v, i)
			}
		}
		x.check(t, "X")
		c.check(t, "C")
	}
	impl.gramNonFinite(t)
}

// gramNonFinite: a NaN or an infinity in a row of X reaches its row and column.
func (impl Implementation) gramNonFinite(t *testing.T) {
	const n, k = 70, 20
	for _, bad := range []float32{nan, float32(math.Inf(1))} {
		x, c := make([]float32, n*k), make([]float32, n*n)
		x[37*k+3] = bad
		impl.Gram(n, k, x, k, c, n)
		for at, v := range c {
			i, j := at/n, at%n
			hit := i == 37 || j == 37
			if finite := v == v && !math.IsInf(float64(v), 0); hit == finite {
				t.Fatalf("%g in row 37: (%d, %d) is %g", bad, i, j, v)
			}
		}
	}
}

// syrk: one triangle has the bits of Gemm, the other is not touched.
func (impl Implementation) syrk(t *testing.T) {
	r := newRand(12)
	for _, s := range [][2]int{{1, 1}, {2, 0}, {13, 5}, {15, 33}, {40, 400}, {100, 20}, {260, 70}} {
		for variant := range 8 {
			low, trans := variant&1 != 0, variant&2 != 0
			p := product{m: s[0], n: s[0], k: s[1], transA: trans, transB: !trans, padC: 2, alpha: 1}
			if variant&4 != 0 {
				p.alpha, p.beta = -0.5, 0.75
			}
			x, _, c := p.operands(r)
			want := slices.Clone(c.data)
			impl.Gemm(trans, !trans, p.n, p.n, p.k, p.alpha, x.data, x.ld, x.data, x.ld, p.beta, want, c.ld)
			old := slices.Clone(c.data)
			impl.Syrk(low, trans, p.n, p.k, p.alpha, x.data, x.ld, p.beta, c.data, c.ld)
			for i := range c.data {
				row, col := i/c.ld, i%c.ld
				from := want
				if col >= p.n || low && col > row || !low && col < row {
					from = old
				}
				if math.Float32bits(c.data[i]) != math.Float32bits(from[i]) {
					t.Fatalf("%v, low %v: (%d, %d) is %g, want %g", p, low, row, col, c.data[i], from[i])
				}
			}
			c.check(t, "C")
		}
	}
}
