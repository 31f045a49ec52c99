package kernel_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// product is one call of Gemm with its operands.
type product struct {
	transA, transB bool
	m, n, k        int
	padA, padB     int // numbers between the rows
	padC           int
	alpha, beta    float32
}

func (p product) String() string {
	return fmt.Sprintf("(%d, %d, %d) transposed %v %v, padding %d %d %d, alpha %g beta %g",
		p.m, p.n, p.k, p.transA, p.transB, p.padA, p.padB, p.padC, p.alpha, p.beta)
}

// matrix is a guarded matrix whose padding holds NaN, so that a number read from
// it spoils the result.
type matrix struct {
	rows, cols, ld int
	data           []float32
	check          func(t *testing.T, what string)
}

var nan = float32(math.NaN())

func newMatrix(r *rand.Rand, rows, cols, pad int) matrix {
	m := matrix{rows: rows, cols: cols, ld: max(cols, 1) + pad}
	m.data, m.check = guarded(max(0, (rows-1)*m.ld+cols))
	for i := range m.data {
		m.data[i] = nan
		if i%m.ld < cols {
			m.data[i] = number(r)
		}
	}
	return m
}

// at returns element (i, j) of op(m).
func (m matrix) at(trans bool, i, j int) float64 {
	if trans {
		i, j = j, i
	}
	return float64(m.data[i*m.ld+j])
}

func (p product) operands(r *rand.Rand) (a, b, c matrix) {
	a = newMatrix(r, p.m, p.k, p.padA)
	if p.transA {
		a = newMatrix(r, p.k, p.m, p.padA)
	}
	b = newMatrix(r, p.k, p.n, p.padB)
	if p.transB {
		b = newMatrix(r, p.n, p.k, p.padB)
	}
	return a, b, newMatrix(r, p.m, p.n, p.padC)
}

// verify runs p and compares with three loops in float64.
func (impl Implementation) verify(t *testing.T, p product, r *rand.Rand) {
	t.Helper()
	a, b, c := p.operands(r)
	a0, b0, c0 := slices.Clone(a.data), slices.Clone(b.data), slices.Clone(c.data)
	if p.beta == 0 { // C must not be read
		for i := range c.data {
			c.data[i] = nan
		}
	}
	impl.Gemm(p.transA, p.transB, p.m, p.n, p.k, p.alpha, a.data, a.ld, b.data, b.ld, p.beta, c.data, c.ld)
	for i := range p.m {
		for j := range p.n {
			var sum, size float64
			for l := range p.k {
				v := a.at(p.transA, i, l) * b.at(p.transB, l, j)
				sum += v
				size += math.Abs(v)
			}
			old := 0.0
			if p.beta != 0 {
				old = float64(p.beta) * float64(c0[i*c.ld+j])
			}
			near(t, c.data[i*c.ld+j], float64(p.alpha)*sum+old, math.Abs(float64(p.alpha))*size+math.Abs(old), p.k, "%v at (%d, %d)", p, i, j)
		}
	}
	for i, v := range c.data {
		if i%c.ld >= p.n && v == v {
			t.Fatalf("%v: wrote %g between the rows of C, at %d", p, v, i)
		}
	}
	sameBits(t, a.data, a0, "A")
	sameBits(t, b.data, b0, "B")
	a.check(t, "A")
	b.check(t, "B")
	c.check(t, "C")
}

func (impl Implementation) gemmSizes(t *testing.T) {
	r := newRand(1)
	count := 0
	each := func(m, n, k int) {
		for trans := range 4 {
			count++
			impl.verify(t, product{
				transA: trans&1 != 0, transB: trans&2 != 0, m: m, n: n, k: k,
				padA: count % 3, padB: count % 4, padC: count % 5, alpha: 1, beta: float32(count % 2),
			}, r)
		}
	}
	for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 13, 14, 15, 29} {
		for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 65} {
			for _, k := range []int{1, 2, 7, 8, 9, 33} {
				each(m, n, k)
			}
		}
	}
	// Across the borders of the cache blocks and of the threads' tasks.
	for _, s := range [][3]int{
		{169, 33, 385}, {337, 65, 16}, {5, 2051, 9}, {30, 40, 1153}, {100, 100, 100}, {256, 16, 256}, {40, 256, 512}, {1, 700, 500},
		{1040, 47, 30},
	} {
		each(s[0], s[1], s[2])
	}
	// Few columns, many rows.
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 11, 12, 13} {
		each(65, n, 8)
		each(130, n, 21)
	}
	each(64, 2, 800)
	// A stride that puts all rows into one set of the first cache.
	for trans := range 4 {
		impl.verify(t, product{transA: trans&1 != 0, transB: trans&2 != 0, m: 40, n: 48, k: 64, padA: 1024 - 64, padB: 1024 - 48, alpha: 1}, r)
	}
}

func (impl Implementation) gemmScalars(t *testing.T) {
	r := newRand(2)
	for _, alpha := range []float32{0, 1, -1, 0.5, -2.25} {
		for _, beta := range []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 3} {
			for _, s := range [][3]int{{1, 1, 1}, {7, 17, 5}, {28, 64, 40}, {15, 33, 800}} {
				impl.verify(t, product{m: s[0], n: s[1], k: s[2], padA: 1, padB: 2, padC: 3, alpha: alpha, beta: beta}, r)
			}
		}
	}
}

func (impl Implementation) gemmEmpty(t *testing.T) {
	impl.Gemm(false, false, 0, 3, 2, 1, nil, 2, make([]float32, 6), 3, 0, nil, 3)
	impl.Gemm(false, false, 3, 0, 2, 1, make([]float32, 6), 2, nil, 1, 0, nil, 1)
	impl.Gemm(true, true, 0, 0, 0, 1, nil, 1, nil, 1, 0, nil, 1)
	for _, beta := range []float32{0, 1, 2} {
		c := []float32{1, 2, nan, 4, 5}
		impl.Gemm(false, false, 2, 2, 0, 1, nil, 1, nil, 2, beta, c, 3)
		if want := []float32{beta, 2 * beta, nan, 4 * beta, 5 * beta}; !slices.Equal(c[:2], want[:2]) || !slices.Equal(c[3:], want[3:]) || c[2] == c[2] {
			t.Fatalf("k = 0, beta %g: %v", beta, c)
		}
	}
	for _, f := range []func(){
		func() { impl.Gemm(false, false, -1, 1, 1, 1, nil, 1, nil, 1, 0, nil, 1) },
		func() {
			impl.Gemm(false, false, 2, 2, 2, 1, make([]float32, 3), 2, make([]float32, 4), 2, 0, make([]float32, 4), 2)
		},
		func() {
			impl.Gemm(false, false, 2, 2, 2, 1, make([]float32, 4), 2, make([]float32, 4), 1, 0, make([]float32, 4), 2)
		},
		func() {
			impl.Gemm(false, false, 2, 2, 2, 1, make([]float32, 4), 2, make([]float32, 4), 2, 0, make([]float32, 3), 2)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a slice or stride that is too short: no panic")
				}
			}()
			f()
		}()
	}
}

// gemmNonFinite tests the policy: no product is skipped, so that a NaN or an
// infinity in A spoils its row of C and one in B its column, against zeros too;
// nothing else is touched; alpha = 0 reads neither.
func (impl Implementation) gemmNonFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, s := range [][3]int{{1, 1, 1}, {5, 9, 3}, {31, 47, 20}, {60, 70, 500}} {
		m, n, k := s[0], s[1], s[2]
		for _, bad := range []float32{nan, inf, -inf} {
			for _, inA := range []bool{true, false} {
				a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
				i, j, p := m/2, n/3, k-1
				if inA {
					a[i*k+p] = bad
				} else {
					b[p*n+j] = bad
				}
				impl.Gemm(false, false, m, n, k, 1, a, k, b, n, 0, c, n)
				for at, v := range c {
					hit := at/n == i
					if !inA {
						hit = at%n == j
					}
					if hit != (v != v) {
						t.Fatalf("%v, %g in A %v: C is %g at (%d, %d)", s, bad, inA, v, at/n, at%n)
					}
				}
				impl.Gemm(false, false, m, n, k, 0, a, k, b, n, 0, c, n)
				if slices.ContainsFunc(c, func(v float32) bool { return v != 0 }) {
					t.Fatalf("%v: alpha = 0 and beta = 0 gave no zeros", s)
				}
			}
		}
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		c[m*n-1] = nan
		impl.Gemm(false, false, m, n, k, 1, a, k, b, n, 1, c, n)
		if v := c[m*n-1]; v == v {
			t.Fatalf("%v: beta = 1 lost the NaN of C", s)
		}
	}
}

// gemmBits: the bits depend neither on the threads nor on which rows and columns
// are computed together nor on the strides.
func (impl Implementation) gemmBits(t *testing.T) {
	r := newRand(3)
	for _, s := range [][3]int{{200, 130, 900}, {1, 3000, 400}, {700, 40, 64}, {64, 64, 80}, {300, 3, 500}, {28, 900, 100}, {1100, 70, 40}} {
		p := product{m: s[0], n: s[1], k: s[2], alpha: 0.75, beta: 0.3}
		a, b, c := p.operands(r)
		c0 := slices.Clone(c.data)
		var first []float32
		onThreads(func(threads int) {
			copy(c.data, c0)
			impl.Gemm(false, false, p.m, p.n, p.k, p.alpha, a.data, a.ld, b.data, b.ld, p.beta, c.data, c.ld)
			if first == nil {
				first = slices.Clone(c.data)
			}
			sameBits(t, c.data, first, fmt.Sprintf("%v, %d threads", p, threads))
		})
		i0, j0 := p.m*4/5, p.n/2
		m, n := (p.m-i0+1)/2, (p.n-j0+2)/3
		part := slices.Clone(c0)
		impl.Gemm(false, false, m, n, p.k, p.alpha, a.data[i0*a.ld:], a.ld, b.data[j0:], b.ld, p.beta, part[i0*c.ld+j0:], c.ld)
		for i := i0; i < i0+m; i++ {
			sameBits(t, part[i*c.ld+j0:][:n], first[i*c.ld+j0:][:n], fmt.Sprintf("%v, part", p))
		}
		at := make([]float32, p.m*p.k)
		for i := range p.m {
			for l := range p.k {
				at[l*p.m+i] = a.data[i*a.ld+l]
			}
		}
		copy(c.data, c0)
		impl.Gemm(true, false, p.m, p.n, p.k, p.alpha, at, p.m, b.data, b.ld, p.beta, c.data, c.ld)
		sameBits(t, c.data, first, fmt.Sprintf("%v, A transposed in memory", p))
		bt := make([]float32, p.n*p.k)
		for l := range p.k {
			for j := range p.n {
				bt[j*p.k+l] = b.data[l*b.ld+j]
			}
		}
		copy(c.data, c0)
		impl.Gemm(false, true, p.m, p.n, p.k, p.alpha, a.data, a.ld, bt, p.k, p.beta, c.data, c.ld)
		sameBits(t, c.data, first, fmt.Sprintf("%v, B transposed in memory", p))
	}
}

// gemmProperty draws from a fixed seed unless the command line gives another.
func (impl Implementation) gemmProperty(t *testing.T) {
	if seed := flag.Lookup("rapid.seed"); seed != nil && seed.Value.String() == "0" {
		if err := flag.Set("rapid.seed", "20261120"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		scalar := rapid.Float32Range(-3, 3)
		p := product{
			transA: rapid.Bool().Draw(rt, "transA"), transB: rapid.Bool().Draw(rt, "transB"),
			m: rapid.IntRange(1, 40).Draw(rt, "m"), n: rapid.IntRange(1, 70).Draw(rt, "n"), k: rapid.IntRange(1, 60).Draw(rt, "k"),
			padA: rapid.IntRange(0, 9).Draw(rt, "padA"), padB: rapid.IntRange(0, 9).Draw(rt, "padB"), padC: rapid.IntRange(0, 9).Draw(rt, "padC"),
			alpha: scalar.Draw(rt, "alpha"), beta: scalar.Draw(rt, "beta"),
		}
		impl.verify(t, p, newRand(rapid.Uint64().Draw(rt, "seed")))
	})
}

// gemmBias: the product's bits, then the bias added, then ReLU.
func (impl Implementation) gemmBias(t *testing.T) {
	r := newRand(6)
	for _, s := range [][3]int{{1, 1, 1}, {5, 7, 3}, {14, 32, 20}, {29, 47, 33}, {100, 3, 900}, {70, 12, 30}, {1000, 3, 700}, {200, 33, 400}, {256, 200, 64}, {3, 5, 0}} {
		for variant := range 16 {
			if s[0]*s[1]*s[2] > 1_000_000 && variant%5 > 0 {
				continue // all four off, two and two, all four on
			}
			p := product{m: s[0], n: s[1], k: s[2], transA: variant&1 != 0, transB: variant&2 != 0, padA: 1, padC: 2, alpha: 1}
			relu := variant&4 != 0
			a, b, c := p.operands(r)
			want := slices.Clone(c.data)
			impl.Gemm(p.transA, p.transB, p.m, p.n, p.k, 1, a.data, a.ld, b.data, b.ld, 0, want, c.ld)
			var bias []float32
			if variant&8 != 0 {
				bias, _ = guardedRandom(r, p.n)
			}
			for i := range p.m {
				for j := range p.n {
					v := &want[i*c.ld+j]
					if bias != nil {
						*v += bias[j]
					}
					if relu && *v <= 0 {
						*v = 0
					}
				}
			}
			onThreads(func(threads int) {
				impl.GemmBias(p.transA, p.transB, p.m, p.n, p.k, a.data, a.ld, b.data, b.ld, bias, relu, c.data, c.ld)
				sameBits(t, c.data, want, fmt.Sprintf("%v, bias %v, relu %v, %d threads", p, bias != nil, relu, threads))
			})
			c.check(t, "C")
		}
	}
	// A sum of -0 and a NaN under ReLU.
	zero, x, c := float32(math.Copysign(0, -1)), []float32{1, 1, 1}, make([]float32, 9)
	impl.GemmBias(false, false, 3, 3, 1, x, 1, []float32{zero, nan, -2}, 3, []float32{zero, 0, 1}, true, c, 3)
	for i := range 3 {
		if math.Float32bits(c[3*i]) != 0 || c[3*i+1] == c[3*i+1] || c[3*i+2] != 0 {
			t.Fatalf("ReLU of -0, NaN and -1: %v", c[3*i:3*i+3])
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a bias that is too short: no panic")
		}
	}()
	impl.GemmBias(false, false, 3, 3, 1, x, 1, x, 3, x[:2], false, c, 3)
}
