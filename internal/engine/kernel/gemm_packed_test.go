package kernel

import (
	"math"
	"testing"

	"tercet/internal/par"
)

// A packed product has the bits of Gemm, which is tested against float64.
func TestPackedIsGemm(t *testing.T) {
	defer par.SetThreads(par.Threads())
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {14, 32, 10}, {50, 33, 400}, {1, 2100, 3}, {17, 2065, 385}, {90, 60, 1200}, {2, 16, 800}} {
			m, n, k := s[0], s[1], s[2]
			if l == Generic && work(m, n, k) > 1e7 {
				continue
			}
			for _, trans := range []bool{false, true} {
				ldb := n + 3
				rows := k
				if trans {
					ldb, rows = k+3, n
				}
				a, b, c := random(1, m*(k+2)), random(2, rows*ldb), random(3, m*(n+1))
				want := append([]float32(nil), c...)
				Gemm(false, trans, m, n, k, 0.5, a, k+2, b, ldb, -1, want, n+1)
				for _, threads := range []int{1, 2} {
					par.SetThreads(threads)
					p := Pack(trans, k, n, b, ldb)
					got := append([]float32(nil), c...)
					p.Gemm(m, 0.5, a, k+2, -1, got, n+1)
					for i := range want {
						if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
							t.Fatalf("%v, (%d, %d) by (%d, %d), trans %v, %d threads: element %d is %v, want %v", l, m, k, k, n, trans, threads, i, got[i], want[i])
						}
					}
				}
			}
		}
		restore()
	}
}

// So has one with bias and ReLU.
// Blocks and copies depend on the processor's caches; the bits do not.
func TestBlockingDecidesNoBit(t *testing.T) {
	defer func(b blocking, threads int) {
		blocks = b
		par.SetThreads(threads)
	}(blocks, par.Threads())
	for _, size := range [][3]int{{300, 1700, 900}, {256, 128, 512}} {
		m, n, k := size[0], size[1], size[2]
		a, b := random(1, m*k), random(2, k*n)
		for trans := range 4 {
			ta, tb := trans&1 != 0, trans&2 != 0
			lda, ldb := k, n
			if ta {
				lda = m
			}
			if tb {
				ldb = k
			}
			var want []float32
			for i, caches := range []int{1 << 20, 2 << 20, 2 << 20, 512 << 10} {
				blocks = blockingFor(caches)
				par.SetThreads(1 + i)
				c := make([]float32, m*n)
				Gemm(ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, n)
				if want == nil {
					want = c
				}
				for i := range c {
					if math.Float32bits(c[i]) != math.Float32bits(want[i]) {
						t.Fatalf("%v, transposes %t %t: element %d is %v with a cache of %d bytes, else %v", size, ta, tb, i, c[i], caches, want[i])
					}
				}
			}
		}
	}
}

func TestPackedRowsAreThoseOfTheMatrix(t *testing.T) {
	const k = 19
	for _, l := range Levels() {
		if l == Generic {
			continue // has no such function
		}
		wide := l.shape().wide
		for panels := 1; panels <= 5; panels++ {
			rs := panels*wide + 3
			src := fenced(t, (k-1)*rs+panels*wide)
			copy(src, random(1, len(src)))
			dst := fenced(t, k*panels*wide)
			done := 0
			for done < panels {
				done += l.packRows(k, panels-done, src[done*wide:], rs, dst[k*done*wide:])
			}
			for i, got := range dst {
				panel, p, j := i/wide/k, i/wide%k, i%wide
				if want := src[p*rs+panel*wide+j]; got != want {
					t.Fatalf("%v, %d panels: row %d of panel %d, column %d: %v, want %v", l, panels, p, panel, j, got, want)
				}
			}
		}
	}
}

// Whether B is packed depends on how far apart its rows lie; the bits do not.
func TestRowsAPageApart(t *testing.T) {
	for _, l := range Levels() {
		if l == Generic {
			continue // slow
		}
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		m, n, k := l.shape().rows*(pagedStrips+1), 65, 400
		if strips := ceilDiv(m, l.shape().rows); blocks.readsWell(l.shape(), strips, k, n, pageNumbers) || !blocks.readsWell(l.shape(), strips, k, n, pageNumbers+1) {
			t.Fatalf("%v: %d strips are read in place or packed for both distances", l, strips)
		}
		a, b := random(1, m*k), random(2, k*(pageNumbers+1))
		same := make([]float32, k*pageNumbers) // a page apart
		far, near := make([]float32, m*n), make([]float32, m*n)
		Gemm(false, false, m, n, k, 1, a, k, b, pageNumbers+1, 0, near, n)
		for p := range k {
			copy(same[p*pageNumbers:][:n], b[p*(pageNumbers+1):])
		}
		Gemm(false, false, m, n, k, 1, a, k, same, pageNumbers, 0, far, n)
		for i := range far {
			if math.Float32bits(far[i]) != math.Float32bits(near[i]) {
				t.Fatalf("%v: element %d is %v, and %v with rows a page apart", l, i, near[i], far[i])
			}
		}
		restore()
	}
}

// A B larger than the second cache is packed where the third cache is slow; the bits do not
// depend on it.
func TestLargeRightOperandPacked(t *testing.T) {
	defer func(b blocking) { blocks = b }(blocks)
	for _, l := range Levels() {
		if l == Generic {
			continue // slow
		}
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		m, n, k := l.shape().rows*repacked, 520, 800
		if smallCache.readsWell(l.shape(), repacked, k, n, n) == largeCache.readsWell(l.shape(), repacked, k, n, n) || !largeCache.readsWell(l.shape(), 1, k, n, n) {
			t.Fatalf("%v: B is read in place or packed for both caches", l)
		}
		a, b := random(3, m*k), random(4, k*n)
		direct, packed := make([]float32, m*n), make([]float32, m*n)
		blocks = smallCache
		Gemm(false, false, m, n, k, 1, a, k, b, n, 0, direct, n)
		blocks = largeCache
		Gemm(false, false, m, n, k, 1, a, k, b, n, 0, packed, n)
		for i := range direct {
			if math.Float32bits(direct[i]) != math.Float32bits(packed[i]) {
				t.Fatalf("%v: element %d is %v, and %v packed", l, i, direct[i], packed[i])
			}
		}
		restore()
	}
}

func TestPackedGemmBias(t *testing.T) {
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		const m, n, k = 17, 65, 400
		a, b, bias := random(1, m*(k+2)), random(2, k*n), random(3, n)
		p := Pack(false, k, n, b, n)
		for _, relu := range []bool{false, true} {
			for _, with := range [][]float32{nil, bias} {
				want, got := random(4, m*(n+1)), random(4, m*(n+1))
				GemmBias(false, false, m, n, k, a, k+2, b, n, with, relu, want, n+1)
				p.GemmBias(m, a, k+2, with, relu, got, n+1)
				for i := range want {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						t.Fatalf("%v, relu %v, bias %v: element %d is %v, want %v", l, relu, with != nil, i, got[i], want[i])
					}
				}
			}
		}
		restore()
	}
}

// The product runs on the level that packed it, whatever the level is by then.
func TestPackedKeepsItsLevel(t *testing.T) {
	for _, l := range Levels() {
		a, b, want, got := random(1, 9*70), random(2, 70*40), make([]float32, 9*40), make([]float32, 9*40)
		restore, err := Force(l)
		if err != nil {
			t.Fatal(err)
		}
		p := Pack(false, 70, 40, b, 40)
		Gemm(false, false, 9, 40, 70, 1, a, 70, b, 40, 0, want, 40)
		restore()
		p.Gemm(9, 1, a, 70, 0, got, 40)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%v: element %d is %v, want %v", l, i, got[i], want[i])
			}
		}
	}
}

func TestPackedEdges(t *testing.T) {
	p := Pack(false, 2, 3, []float32{1, 2, 3, 4, 5, 6}, 3)
	c := []float32{1, 1, 1}
	p.Gemm(1, 0, []float32{1, 1}, 2, 2, c, 3)
	if c[0] != 2 || c[2] != 2 {
		t.Errorf("alpha 0: %v", c)
	}
	p.Gemm(0, 1, nil, 2, 0, nil, 3)
	for name, f := range map[string]func(){
		"bias":   func() { p.GemmBias(1, []float32{1, 1}, 2, []float32{1}, false, c, 3) },
		"empty":  func() { Pack(false, 0, 3, nil, 3) },
		"short":  func() { Pack(false, 3, 3, make([]float32, 8), 3) },
		"A":      func() { p.Gemm(2, 1, make([]float32, 3), 2, 0, make([]float32, 6), 3) },
		"C":      func() { p.Gemm(2, 1, make([]float32, 4), 2, 0, make([]float32, 5), 3) },
		"stride": func() { p.Gemm(2, 1, make([]float32, 4), 1, 0, make([]float32, 6), 3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestPackedAllocatesNothing(t *testing.T) {
	a, b, c := random(1, 200*300), random(2, 300*150), make([]float32, 200*150)
	p := Pack(false, 300, 150, b, 150)
	const calls = 40
	if got := allocations(calls, func() { p.Gemm(200, 1, a, 300, 0, c, 150) }); got >= calls {
		t.Errorf("%d allocations in %d calls", got, calls)
	}
}

// What a packed gallery saves a step of an attack: 128 queries, 10,000 items of
// 512 numbers.
func BenchmarkPacked(b *testing.B) {
	const m, n, d = 128, 10000, 512
	x, z, c, g := random(1, n*d), random(2, m*d), make([]float32, m*n), make([]float32, m*d)
	rows, columns := Pack(true, d, n, x, d), Pack(false, n, d, x, d)
	for _, k := range []struct {
		name string
		f    func()
	}{
		{"products", func() { Gemm(false, true, m, n, d, 1, z, d, x, d, 0, c, n) }},
		{"products packed", func() { rows.Gemm(m, 1, z, d, 0, c, n) }},
		{"sums", func() { Gemm(false, false, m, d, n, 1, c, n, x, d, 0, g, d) }},
		{"sums packed", func() { columns.Gemm(m, 1, c, n, 0, g, d) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				k.f()
			}
		})
	}
}

// Threads share no columns where each has its own, and there are tasks for all of them.
func TestColumnsOfTheirOwn(t *testing.T) {
	defer func(b blocking, threads int) {
		blocks = b
		par.SetThreads(threads)
	}(blocks, par.Threads())
	blocks = smallCache
	for _, c := range []struct {
		m, n, k    int
		transB     bool
		columnwise bool
	}{
		{1024, 1024, 1024, false, true},
		{384, 3136, 1024, false, true},
		{512, 512, 512, false, true},
		{256, 256, 256, true, true},
		{256, 256, 256, false, false},   // B in place stays in every thread's caches
		{3136, 1024, 384, false, false}, // each thread would read all of a larger A
	} {
		for _, threads := range []int{2, 4, 8} {
			par.SetThreads(threads)
			b := view{rs: c.n, cs: 1}
			if c.transB {
				b = view{rs: 1, cs: c.k}
			}
			g := gemmJob{product: product{m: c.m, n: c.n, k: c.k, b: b}, level: AVX512, parallel: true, cols: min(c.n, blocks.columns)}
			g.split(AVX512.shape())
			if g.columnwise() != c.columnwise {
				t.Errorf("%+v: columnwise is %v", c, g.columnwise())
			}
			tasks := g.down * g.across
			if tasks < 2*threads || g.down > g.strips || g.across > g.panels {
				t.Errorf("%+v, %d threads: %d x %d tasks of %d strips and %d panels", c, threads, g.down, g.across, g.strips, g.panels)
			}
			for i := 1; c.columnwise && i < threads; i++ {
				if first := i * tasks / threads; first%g.down != 0 {
					t.Errorf("%+v: thread %d of %d begins within the columns of the one before", c, i, threads)
				}
			}
		}
	}
}
