package kernel

import (
	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// Products of level AMX: A and B are cut into parts of bfloat16 (amx_split.go) and multiplied
// in tiles. Cut numbers take 6 bytes, and what they are multiplied in takes less time than the
// third cache needs to deliver them. So they stay in the second one:
//
//	k is cut into runs, n into runs of columns: B of both is cut once;
//	m into strips of 32 rows: a task cuts one, and multiplies it with all of that B, while
//	the processor is asked for the next strip.
//
// The sums stay in tiles, or go to memory as they are, from the first step to the last: no
// cut decides a bit.

const (
	// leastSplitK is the least k of products in tiles: below, cutting costs more than it
	// gains on a few rows or columns. It depends on k alone, so
	// that the bits of an element do not depend on which others are computed with it.
	leastSplitK = 64
)

// splits reports whether products over k are computed in tiles.
func (l Level) splits(k int) bool { return l == AMX && k >= leastSplitK }

// splitBlocking is how products in tiles are cut for the caches.
type splitBlocking struct {
	run int // of k at most
	b   int // numbers of B that stay in the second cache
}

var splitBlocks = splitBlocking{run: 384, b: 192 << 10}

// runs returns the extents of the runs of k, whole steps but for the last run, and of columns.
func (s *splitBlocking) runs(n, k int) (kc, columns int) {
	kc = roundUp(ceilDiv(k, ceilDiv(k, s.run)), splitBlock)
	most := max(splitBlock, s.b/kc)
	return kc, roundUp(ceilDiv(n, ceilDiv(n, most)), splitBlock)
}

// splitJob is one product in progress. It is also the par.Runner of the multiplication;
// splitPack is that of the cutting of B.
type splitJob struct {
	product
	parallel bool

	strips, tasks  int // of 32 rows; runs of them
	panels, across int // of 32 columns; runs of them

	// The current columns and run of k, and the cut B.
	j, cols int
	p, kc   int
	packed  []float32

	// The sums between runs of k are in C itself, or here.
	inC  bool
	sums []float32
	lds  int
}

type splitPack splitJob

// splitScratch belongs to one task while it runs.
type splitScratch struct {
	a     []float32 // a strip of A
	turn  []float32 // a step of a transposed operand
	block []float32
	edge  []float32 // a block on the diagonal
}

var (
	splitJobs      par.Free[splitJob]
	splitScratches par.Free[splitScratch]
)

// gemmSplit computes x.
func gemmSplit(x product) {
	g := splitJobs.Get()
	g.product = x
	g.parallel = work(x.m, x.n, x.k) > serialWork
	g.run()
	if x.ready != nil {
		g.packed = nil // it is the caller's
	}
	g.product = product{}
	splitJobs.Put(g)
}

func (g *splitJob) run() {
	var columns int
	g.kc, columns = splitBlocks.runs(g.n, g.k)
	g.strips = ceilDiv(g.m, splitBlock)
	g.inC = g.beta == 0 && g.part == whole && g.m%splitBlock == 0 && g.n%splitBlock == 0
	for g.j = 0; g.j < g.n; g.j += columns {
		g.cols = min(columns, g.n-g.j)
		g.split()
		if !g.inC && g.kc < g.k {
			g.lds = oddLines(g.panels * splitBlock)
			grow(&g.sums, g.strips*splitBlock*g.lds)
		}
		for g.p = 0; g.p < g.k; g.p += g.kc {
			g.prepareB()
			if g.parallel {
				par.Do(g.tasks*g.across, 1, g)
			} else {
				g.Run(0, g.tasks*g.across)
			}
		}
	}
}

// split chooses the tasks of the current columns.
func (g *splitJob) split() {
	g.panels = ceilDiv(g.cols, splitBlock)
	g.tasks, g.across = 1, 1
	if !g.parallel || par.Threads() == 1 {
		return
	}
	tasks := int(min(int64(2*manyTasks()), work(g.m, g.cols, min(g.kc, g.k))/(4*taskWork)+1))
	g.tasks = min(tasks, g.strips)
	g.across = min(g.panels, ceilDiv(tasks, g.tasks))
}

// prepareB cuts the current part of B.
func (g *splitJob) prepareB() {
	steps := ceilDiv(min(g.kc, g.k-g.p), splitBlock)
	if g.ready != nil {
		g.packed = g.ready[(g.j/splitBlock*ceilDiv(g.k, splitBlock)+g.p/splitBlock*g.panels)*splitStep:]
		return
	}
	grow(&g.packed, g.panels*steps*splitStep)
	if g.parallel {
		par.Do(g.panels, max(1, ceilDiv(g.panels, 2*manyTasks())), (*splitPack)(g))
	} else {
		(*splitPack)(g).Run(0, g.panels)
	}
}

// Run cuts panels [lo, hi).
func (g *splitPack) Run(lo, hi int) {
	w := splitScratches.Get()
	k := min(g.kc, g.k-g.p)
	steps := ceilDiv(k, splitBlock)
	for v := lo; v < hi; v++ {
		j := v * splitBlock
		w.columns(k, min(splitBlock, g.cols-j), g.b.from(g.p, g.j+j), g.packed[v*steps*splitStep:])
	}
	splitScratches.Put(w)
}

// columns cuts a panel of cols columns of b.
func (w *splitScratch) columns(k, cols int, b view, dst []float32) {
	steps := k / splitBlock
	if b.cs != 1 {
		steps = 0
	}
	if steps > 0 {
		splitColumns(steps, cols, b.data, b.rs, dst)
	}
	for o := steps; o < ceilDiv(k, splitBlock); o++ {
		rows := min(splitBlock, k-o*splitBlock)
		grow(&w.turn, splitBlock*splitBlock)
		if rows < splitBlock {
			clear(w.turn)
		}
		from := b.from(o*splitBlock, 0)
		if b.cs == 1 {
			for p := range rows {
				copy(w.turn[p*splitBlock:][:cols], from.data[p*b.rs:])
			}
		} else {
			AVX512.transpose(cols, rows, from.data, b.cs, w.turn, splitBlock)
		}
		splitColumns(1, cols, w.turn, splitBlock, dst[o*splitStep:])
	}
}

// rows cuts a strip of rows of a.
func (w *splitScratch) rows(rows, k int, a view) {
	steps := ceilDiv(k, splitBlock)
	grow(&w.a, steps*splitStep)
	if a.cs == 1 {
		splitRows(rows, k, a.data, a.rs, w.a)
		return
	}
	grow(&w.turn, splitBlock*splitBlock)
	for o := range steps {
		n := min(splitBlock, k-o*splitBlock)
		AVX512.transpose(n, rows, a.from(0, o*splitBlock).data, a.cs, w.turn, splitBlock)
		splitRows(rows, n, w.turn, splitBlock, w.a[o*splitStep:])
	}
}

// Run does tasks [lo, hi) of the multiplication.
func (g *splitJob) Run(lo, hi int) {
	w := splitScratches.Get()
	grow(&w.block, splitBlock*splitBlock)
	for t := lo; t < hi; t++ {
		v, u := t/g.across, t%g.across
		j, j1 := u*g.panels/g.across*splitBlock, min((u+1)*g.panels/g.across*splitBlock, g.cols)
		for strip := v * g.strips / g.tasks; strip < (v+1)*g.strips/g.tasks; strip++ {
			i := strip * splitBlock
			rows := min(splitBlock, g.m-i)
			if g.part == upper && g.j+j1-1 < i || g.part == lower && g.j+j > i+rows-1 {
				continue
			}
			g.strip(w, i, rows, j, j1)
		}
	}
	splitScratches.Put(w)
}

// strip computes a strip of rows from i on and columns [j, j1), of the current ones.
func (g *splitJob) strip(w *splitScratch, i, rows, j, j1 int) {
	k := min(g.kc, g.k-g.p)
	w.rows(rows, k, g.a.from(i, g.p))
	x := splitArgs{
		steps: ceilDiv(k, splitBlock), rows: rows, cols: j1 - j, load: g.p > 0, store: g.p+k < g.k,
		ldc: g.ldc, alpha: g.alpha, beta: g.beta, relu: g.relu, ahead: &w.a[0],
	}
	if next := i + splitBlock; next < g.m {
		x.ahead = &g.a.from(next, g.p).data[0]
		x.aheadRow, x.aheadStep = 4*g.a.rs, 4*splitBlock
		if g.a.cs != 1 {
			x.aheadRow, x.aheadStep = 4*g.a.cs, 4*g.a.cs*splitBlock
		}
	}
	if g.bias != nil {
		x.bias = &g.bias[g.j+j : g.j+j1][0]
	}
	b, c := g.packed[j/splitBlock*x.steps*splitStep:], g.c[i*g.ldc+g.j+j:]
	sums := c
	x.lds = g.ldc
	if !g.inC && (x.load || x.store) {
		sums, x.lds = g.sums[i*g.lds+j:], g.lds
	}
	if g.part == whole {
		multiplySplit(&x, w.a, b, sums, c, w.block)
		return
	}
	g.triangle(&x, w, g.j+j-i, w.a, b, sums, c)
}

// triangle computes those blocks of the strip x that are in the product's part. Its first
// column is diag more than its first row.
func (g *splitJob) triangle(x *splitArgs, w *splitScratch, diag int, a, b, sums, c []float32) {
	for v := 0; v < x.cols; v += splitBlock {
		y := *x
		y.cols = min(splitBlock, x.cols-v)
		low, high := diag+v-(y.rows-1), diag+v+y.cols-1 // columns minus rows
		if g.part == upper && high < 0 || g.part == lower && low > 0 {
			continue
		}
		if y.bias != nil {
			panic("kernel: split product: a triangle with bias")
		}
		b, c := b[v/splitBlock*x.steps*splitStep:], c[v:]
		sums := sums[v:]
		if x.store || g.part == upper && low >= 0 || g.part == lower && high <= 0 {
			multiplySplit(&y, a, b, sums, c, w.block)
			continue
		}
		grow(&w.edge, splitBlock*splitBlock)
		y.ldc = splitBlock
		g.part.rows(&y, diag+v, func(r, from, to int) { copy(w.edge[r*splitBlock+from:r*splitBlock+to], c[r*x.ldc+from:]) })
		multiplySplit(&y, a, b, sums, w.edge, w.block)
		g.part.rows(&y, diag+v, func(r, from, to int) { copy(c[r*x.ldc+from:], w.edge[r*splitBlock+from:r*splitBlock+to]) })
	}
}

// rows calls f with the columns [from, to) of each row of a block that are in the part, where
// the block's first column is diag more than its first row.
func (part triangle) rows(x *splitArgs, diag int, f func(r, from, to int)) {
	for r := range x.rows {
		if part == upper {
			f(r, min(max(0, r-diag), x.cols), x.cols)
		} else {
			f(r, 0, min(max(0, r-diag+1), x.cols))
		}
	}
}

// packSplit is Pack for products in tiles: all runs of all columns, cut.
func packSplit(k, n int, b view) []float32 {
	steps := ceilDiv(k, splitBlock)
	data := pages.Make[float32](max(8192, ceilDiv(n, splitBlock)*steps*splitStep))
	g := splitJob{product: product{n: n, k: k, b: b}}
	var columns int
	g.kc, columns = splitBlocks.runs(n, k)
	for g.j = 0; g.j < n; g.j += columns {
		g.cols = min(columns, n-g.j)
		g.panels = ceilDiv(g.cols, splitBlock)
		for g.p = 0; g.p < k; g.p += g.kc {
			g.packed = data[(g.j/splitBlock*steps+g.p/splitBlock*g.panels)*splitStep:]
			par.Do(g.panels, 1, (*splitPack)(&g))
		}
	}
	return data
}
