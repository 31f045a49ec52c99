package kernel

import "tercet/internal/par"

// gemmJob is one product in progress. It is also the par.Runner of the
// multiplication; gemmPack is that of the packing of B.
type gemmJob struct {
	level       Level
	m, n, k     int
	alpha, beta float32
	a, b        view
	c           []float32
	ldc         int
	parallel    bool

	mc, nc int // one task: mc rows, nc columns

	// The current run of k and of n.
	p, kc   int
	j, cols int
	betaNow float32
	bNow    panels
	packed  []float32 // storage for bNow
}

type gemmPack gemmJob

// gemmScratch belongs to one task while it runs: copied blocks of A and B, and
// one tile for the edges of C.
type gemmScratch struct {
	a, b []float32
	edge []float32
}

var (
	gemmJobs      par.Free[gemmJob]
	gemmScratches par.Free[gemmScratch]
)

// Products below serialWork multiply-adds are not worth waking a thread for.
const serialWork = 1 << 18

// taskWork is the number of multiply-adds, about a microsecond's, below which
// a product is not cut further.
const taskWork = 1 << 16

// targetTasks is the least number of tasks that a large product is cut into;
// more than the threads, so that they end together.
const targetTasks = 16

// manyTasks is targetTasks for machines with many threads. It may decide only
// how outputs are split, which changes no bit, never how a sum is.
func manyTasks() int { return max(targetTasks, 4*par.Threads()) }

// gemm computes C = alpha*A*B + beta*C for views of op(A) and op(B); all extents
// are positive.
func gemm(l Level, m, n, k int, alpha float32, a, b view, beta float32, c []float32, ldc int) {
	g := gemmJobs.Get()
	g.level, g.m, g.n, g.k, g.alpha, g.beta, g.a, g.b, g.c, g.ldc = l, m, n, k, alpha, beta, a, b, c, ldc
	g.parallel = work(m, n, k) > serialWork
	g.run()
	g.a, g.b, g.c, g.bNow = view{}, view{}, nil, panels{}
	gemmJobs.Put(g)
}

func (g *gemmJob) run() {
	s := g.level.shape()
	step := kRun(g.k)
	for g.j = 0; g.j < g.n; g.j += blockN {
		g.cols = min(blockN, g.n-g.j)
		g.split(s)
		tasks := ceilDiv(g.m, g.mc) * ceilDiv(g.cols, g.nc)
		g.betaNow = g.beta
		for g.p = 0; g.p < g.k; g.p += step {
			g.kc = min(step, g.k-g.p)
			g.prepareB(s)
			if g.parallel {
				par.Do(tasks, 1, g)
			} else {
				g.Run(0, tasks)
			}
			g.betaNow = 1
		}
	}
}

// split chooses the tasks of one run of n: rows first, columns where the rows
// are too few.
func (g *gemmJob) split(s tileShape) {
	g.mc, g.nc = blockM, g.cols
	if !g.parallel {
		return
	}
	tasks := int(min(int64(manyTasks()), work(g.m, g.cols, g.k)/taskWork+1))
	g.mc = min(blockM, roundUp(ceilDiv(g.m, tasks), s.rows))
	if across := tasks / ceilDiv(g.m, g.mc); across > 1 {
		g.nc = roundUp(ceilDiv(g.cols, across), s.wide)
	}
}

// prepareB packs the current run of B, or lets the tiles read B itself where
// few rows would not repay the copy.
func (g *gemmJob) prepareB(s tileShape) {
	if g.b.cs == 1 && g.cols%s.narrow == 0 && (g.m <= 2*s.rows || g.b.rs == g.cols && g.cols <= s.wide) {
		g.bNow = panels{data: g.b.from(g.p, g.j).data, ld: g.b.rs}
		return
	}
	grow(&g.packed, s.packedCols(g.cols)*g.kc)
	g.bNow = panels{data: g.packed}
	count := ceilDiv(g.cols, s.wide)
	if g.parallel {
		par.Do(count, max(1, 16384/(s.wide*g.kc)), (*gemmPack)(g))
	} else {
		(*gemmPack)(g).Run(0, count)
	}
}

// Run packs panels [lo, hi).
func (g *gemmPack) Run(lo, hi int) {
	g.level.pack(g.packed, g.kc, g.cols, g.b.from(g.p, g.j), lo, hi)
}

// Run does tasks [lo, hi) of the multiplication.
func (g *gemmJob) Run(lo, hi int) {
	w := gemmScratches.Get()
	grow(&w.edge, edgeSize)
	across := ceilDiv(g.cols, g.nc)
	last := -1
	var a view
	for t := lo; t < hi; t++ {
		i, j := t/across*g.mc, t%across*g.nc
		m, n := min(g.mc, g.m-i), min(g.nc, g.cols-j)
		if i != last {
			a = w.blockA(g.a.from(i, g.p), m, g.kc, g.cols)
			last = i
		}
		b := g.bNow
		if b.ld == 0 {
			b.data = b.data[j*g.kc:]
		} else {
			b.data = b.data[j:]
		}
		g.level.multiply(m, n, g.kc, g.alpha, a, b, g.betaNow, g.c[i*g.ldc+g.j+j:], g.ldc, w.edge)
	}
	gemmScratches.Put(w)
}

// blockA returns a block of A as the tiles shall read it: in place, or copied
// to rows an odd number of cache lines apart where its own stride would put the
// rows of a tile into the same few sets of the first cache.
func (w *gemmScratch) blockA(a view, m, k, n int) view {
	rows, cols, ld := m, k, a.rs
	if a.cs != 1 {
		rows, cols, ld = k, m, a.cs
	}
	if a.cs == 1 && ld%256 != 0 || rows*ld <= 8192 || n <= 16 {
		return a
	}
	pitch := oddLines(cols)
	grow(&w.a, rows*pitch)
	for i := range rows {
		copy(w.a[i*pitch:], a.data[i*ld:][:cols])
	}
	if a.cs == 1 {
		return view{w.a, pitch, 1}
	}
	return view{w.a, 1, pitch}
}

// oddLines rounds up to an odd number of cache lines of 16 numbers.
func oddLines(n int) int { return (n+15)/16*16 | 16 }

func ceilDiv(a, b int) int { return (a + b - 1) / b }
func roundUp(a, b int) int { return ceilDiv(a, b) * b }

// work returns the number of multiply-adds of a product.
func work(m, n, k int) int64 { return int64(m) * int64(n) * int64(k) }

// grow makes *x n long; its content is undefined. It allocates at least 32 KiB,
// which Go aligns to a page: no vector of a packed panel crosses a cache line.
func grow(x *[]float32, n int) {
	if cap(*x) < n {
		*x = make([]float32, max(n+n/4, 8192))
	}
	*x = (*x)[:n]
}
