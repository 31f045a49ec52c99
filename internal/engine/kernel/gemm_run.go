package kernel

import (
	"sync/atomic"

	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// product is C = alpha*A*B + beta*C for views of op(A) (m, k) and op(B) (k, n),
// then + bias, then the larger of that and 0, on a part of C.
type product struct {
	m, n, k     int
	alpha, beta float32
	a, b        view
	c           []float32
	ldc         int
	bias        []float32 // n numbers, or nil
	relu        bool
	part        triangle
	ready       []float32 // B as Pack has it, or nil; b is then not read
}

// gemmJob is one product in progress. It is also the par.Runner of the
// multiplication; gemmPack is that of the packing of B.
type gemmJob struct {
	product
	level    Level
	parallel bool

	// Rows are cut into strips as high as a tile, strips into down blocks;
	// columns into panels as wide as a tile, panels into across blocks.
	strips, down   int
	panels, across int

	// The current columns of B and group of runs of k, and its packed panels:
	// run r of the group begins at packed[r*kc*stride]. Of direct columns none are packed.
	j, cols int
	p, kc   int
	runs    int
	direct  bool
	packed  []float32
	stride  int

	fetching bool
	begun    atomic.Int64 // tasks, counted if fetching
}

type gemmPack gemmJob

// gemmScratch belongs to one task while it runs.
type gemmScratch struct {
	a    []float32 // a copied block of A
	edge []float32 // a tile on the diagonal
}

var (
	gemmJobs      par.Free[gemmJob]
	gemmScratches par.Free[gemmScratch]
)

// Products below serialWork multiply-adds, some ten microseconds, are not worth
// waking a thread for.
const serialWork = 1 << 19

// taskWork is the number of multiply-adds, a few microseconds', below which
// a product is not cut further.
const taskWork = 1 << 17

// targetTasks is the least number of tasks that a large product is cut into;
// more than the threads, so that they end together.
const targetTasks = 16

// manyTasks is targetTasks for machines with many threads. It may decide only
// how outputs are split, which changes no bit, never how a sum is.
func manyTasks() int { return max(targetTasks, 4*par.Threads()) }

// gemm computes x, all of whose extents are positive.
func gemm(l Level, x product) {
	if l.splits(x.k) {
		gemmSplit(x)
		return
	}
	if x.swapsWell(l) {
		gemmSwapped(l, x)
		return
	}
	parallel := work(x.m, x.n, x.k) > serialWork
	if !parallel && x.ready == nil && x.b.cs == 1 && x.k <= blockK && x.part == whole && !x.a.copiesWell(l.shape(), x.k, x.n) { // nothing to prepare
		b := block{
			m: x.m, n: x.n, k: x.k, alpha: x.alpha, a: x.a, b: panels{x.b.data, x.b.rs},
			beta: x.beta, c: x.c, ldc: x.ldc, bias: x.bias, relu: x.relu,
		}
		l.multiplyBlock(&b)
		return
	}
	g := gemmJobs.Get()
	g.level, g.product, g.parallel = l, x, parallel
	g.run()
	if x.ready != nil {
		g.packed = nil // it is the caller's
	}
	g.product = product{}
	gemmJobs.Put(g)
}

func (g *gemmJob) run() {
	s := g.level.shape()
	g.kc = kRun(g.k)
	columns := columnRun(s, g.n)
	for g.j = 0; g.j < g.n; g.j += columns {
		g.cols = min(columns, g.n-g.j)
		g.split(s)
		group := max(1, blocks.packed/(g.stride*g.kc)) * g.kc
		for g.p = 0; g.p < g.k; g.p += group {
			g.runs = ceilDiv(min(group, g.k-g.p), g.kc)
			g.prepareB(s)
			g.fetching = g.fetches()
			g.begun.Store(0)
			if g.parallel {
				par.Do(g.down*g.across, 1, g)
			} else {
				g.Run(0, g.down*g.across)
			}
		}
	}
}

// columnRun returns the extent of the runs of columns.
func columnRun(s tileShape, n int) int {
	return roundUp(ceilDiv(n, ceilDiv(n, blocks.columns)), s.wide)
}

// split chooses the tasks of the current columns, and whether the tiles read B in place.
func (g *gemmJob) split(s tileShape) {
	g.strips, g.panels = ceilDiv(g.m, s.rows), ceilDiv(g.cols, s.wide)
	g.stride = s.packedCols(g.cols)
	g.direct = g.ready == nil && g.b.cs == 1 && blocks.readsWell(s, g.strips, g.k, g.n, g.b.rs)
	g.down, g.across = ceilDiv(g.m, blocks.rows), 1
	if !g.parallel || par.Threads() == 1 {
		return
	}
	tasks := int(min(int64(2*manyTasks()), work(g.m, g.cols, g.k)/taskWork+1))
	if g.columnwise() {
		g.splitColumns(tasks)
		return
	}
	if g.part != whole {
		tasks *= 2
	}
	g.down = max(g.down, min(tasks, g.strips))
	g.across = min(g.panels, ceilDiv(tasks, g.down))
}

// columnwise reports whether each thread shall begin with columns of its own rather than
// rows: then it multiplies by the panels of B that it packed itself, and many rows meet them
// before they leave its second cache. All threads read A then, so it has to be the smaller
// one. A small B in place stays in the caches of all threads anyway.
func (g *gemmJob) columnwise() bool {
	return g.part == whole && g.m <= g.n && !(g.direct && g.k*g.n <= fetchedB)
}

// A task of columns has at least taskStrips strips of A, so that reading its panels of B
// pays, and where there are enough, taskPanels panels, so that copying its block of A does.
const (
	taskStrips = 5
	taskPanels = 4
)

// splitColumns chooses about so many tasks: a run of columns for each thread, cut into
// blocks of rows; more columns where the rows are too few.
func (g *gemmJob) splitColumns(tasks int) {
	t := par.Threads()
	g.across = max(1, min(t, g.panels/taskPanels, tasks))
	g.down = max(g.down, min(ceilDiv(tasks, g.across), g.strips/taskStrips))
	if least := min(tasks, manyTasks()); g.down*g.across < least {
		g.across = min(g.panels, roundUp(ceilDiv(least, g.down), t))
	}
}

// directStrips is the number of strips of A up to which copying B costs more than it
// gains, and pagedStrips the same for rows of B that lie a multiple of 4 KiB apart: they
// share so few sets of the caches that a run of them does not stay in the second one.
// narrowStrips is the same for panels of one line per row that crowd the first cache; what wider
// ones would gain was not measured.
// With repacked strips, packing a B of blocking.inPlace numbers costs less than reading it.
const (
	directStrips = 74
	pagedStrips  = 16
	narrowStrips = 8
	pageNumbers  = 1024
	repacked     = 5
)

// readsWell reports whether B (k, n), in rows rs apart, is better read in place by so many
// strips of A than packed.
func (b *blocking) readsWell(s tileShape, strips, k, n, rs int) bool {
	if b.inPlace > 0 && k*n >= b.inPlace && strips > 1 && strips*k*n >= repacked*b.inPlace {
		return false
	}
	switch {
	case s.wide <= lineNumbers && crowds(kRun(k), rs):
		return strips <= narrowStrips
	case rs%pageNumbers == 0:
		return strips <= pagedStrips
	}
	return strips <= directStrips
}

// crowds reports whether k rows of one line, rs apart, fall into so few sets of the first cache
// that they do not stay there.
func crowds(k, rs int) bool {
	sets := min(firstSets, pageNumbers/min(rs&-rs, pageNumbers))
	return k > firstWays*sets
}

// prepareB packs the current group of B, unless the tiles read B itself.
func (g *gemmJob) prepareB(s tileShape) {
	if g.direct {
		return
	}
	if g.ready != nil {
		g.packed = g.ready[g.j*g.k+g.p*g.stride:]
		return
	}
	grow(&g.packed, g.stride*min(g.runs*g.kc, g.k-g.p))
	if g.parallel {
		par.Do(g.panels, roundUp(max(1, ceilDiv(g.panels, 2*manyTasks()), 16384/(s.wide*g.runs*g.kc)), g.level.packedAtOnce()), (*gemmPack)(g))
	} else {
		(*gemmPack)(g).Run(0, g.panels)
	}
}

// run returns where the run r of the group begins in k, and its extent.
func (g *gemmJob) runOf(r int) (p, k int) {
	p = g.p + r*g.kc
	return p, min(g.kc, g.k-p)
}

// Run packs panels [lo, hi) of all runs of the group.
func (g *gemmPack) Run(lo, hi int) {
	for r := range g.runs {
		p, k := (*gemmJob)(g).runOf(r)
		g.level.pack(g.packed[r*g.kc*g.stride:], k, g.cols, g.b.from(p, g.j), lo, hi)
	}
}

// Run does tasks [lo, hi) of the multiplication.
func (g *gemmJob) Run(lo, hi int) {
	g.fetch()
	s, columnwise := g.level.shape(), g.columnwise()
	var w *gemmScratch // nil where it is not needed: the list's lock would move between the cores
	if g.part != whole || g.a.copiesWell(s, g.kc, g.cols) {
		w = gemmScratches.Get()
		grow(&w.edge, maxTile)
	}
	for t := lo; t < hi; t++ {
		v, u := t/g.across, t%g.across
		if columnwise {
			u, v = t/g.down, t%g.down
		}
		i, i1 := g.row(v*g.strips/g.down), g.row((v+1)*g.strips/g.down)
		j := u * g.panels / g.across * s.wide
		j1 := min((u+1)*g.panels/g.across*s.wide, g.cols)
		if g.outside(i, i1, g.j+j, g.j+j1) {
			continue
		}
		x := block{
			m: i1 - i, n: j1 - j, alpha: g.alpha, c: g.c[i*g.ldc+g.j+j:], ldc: g.ldc,
			part: g.part, diag: i - g.j - j,
		}
		if w != nil {
			x.edge = w.edge
		}
		for r := range g.runs {
			var p int
			p, x.k = g.runOf(r)
			x.a = w.blockA(g.level, s, g.a.from(i, p), x.m, x.k, x.n)
			if g.direct {
				x.b = panels{g.b.from(p, g.j+j).data, g.b.rs}
			} else {
				x.b = panels{data: g.packed[r*g.kc*g.stride+j*x.k:]}
			}
			x.beta = 1
			if p == 0 {
				x.beta = g.beta
			}
			if p+x.k == g.k {
				x.relu = g.relu
				if g.bias != nil {
					x.bias = g.bias[g.j+j:]
				}
			}
			g.level.multiplyBlock(&x)
		}
	}
	if w != nil {
		gemmScratches.Put(w)
	}
}

// row returns the first row of a strip; heights differ by 1 at most.
func (g *gemmJob) row(strip int) int { return strip * g.m / g.strips }

// outside reports whether no element of rows [i, i1) and columns [j, j1) is in
// the product's part.
func (g *gemmJob) outside(i, i1, j, j1 int) bool {
	return g.part == upper && j1-1 < i || g.part == lower && j > i1-1
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
func roundUp(a, b int) int { return ceilDiv(a, b) * b }

// work returns the number of multiply-adds of a product.
func work(m, n, k int) int64 { return int64(m) * int64(n) * int64(k) }

// grow makes *x n long; its content is undefined. It allocates at least 32 KiB,
// which Go aligns to a page: no vector of a packed panel crosses a cache line.
func grow(x *[]float32, n int) {
	if cap(*x) < n {
		*x = pages.Make[float32](max(n+n/4, 8192))
	}
	*x = (*x)[:n]
}
