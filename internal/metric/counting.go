package metric

import (
	"context"
	"math"
	"slices"
	"sync"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// mostCounted is the number of items in the largest class for which counting is
// faster than forming whole rows of keys.
const mostCounted = 32

// longRow is the count of numbers from which on a class of mostCounted rows takes more
// than 2 MiB.
const longRow = 1 << 14

// counting finds the ranks of relevant items where classes are small: it first
// takes their keys, the cuts, and then counts the items with smaller keys, block
// by block, so that within one set half of the products are enough.
type counting struct {
	s     *search
	sweep sweep
	// The query of the sweep's first row, and the item of its first column; where blocks
	// stand for their mirror images too, the row is an item and the column a query.
	top, first int
	rows, cols keyTerms
	base       []int // where the cuts of each group of 16 queries begin, and their end
	cut, upper []float32
	index      []int32
	count      []int32
	back       []int32 // counts where of equal keys those with higher indices are below
}

// counted reports whether all classes are small, nothing is excluded and no neighbors are
// asked for.
func (s *search) counted() bool {
	for k := range len(s.members.start) - 1 {
		if len(s.members.of(k)) > mostCounted {
			return false
		}
	}
	return s.near == 0 && s.except == nil
}

func (s *search) runCounting(ctx context.Context, told progress.Count) error {
	c := &counting{s: s, sweep: sweep{d: s.d, rows: s.x, cols: s.g, self: s.self}}
	c.sweep.user = c
	c.cols.set(s, s.norm)
	c.rows = c.cols
	c.setCuts()
	if err := c.sweep.run(ctx, func(done, total int) {
		told.Tell(int(int64(len(s.query))*int64(done)/int64(total)), len(s.query))
	}); err != nil {
		return err
	}
	c.score()
	return nil
}

// keyTerms are what products with items are multiplied by, and what is added, for their
// keys; those of no item follow, as many as a block has columns.
type keyTerms struct{ scale, add []float32 }

// set sets the terms of items with these norms.
func (t *keyTerms) set(s *search, norm []float32) {
	t.scale = slices.Grow(t.scale[:0], len(norm)+blockCols)[:len(norm)+blockCols]
	t.add = slices.Grow(t.add[:0], len(norm)+blockCols)[:len(norm)+blockCols]
	for j := range t.add {
		t.scale[j], t.add[j] = 0, float32(math.Inf(1)) // no item
		if j < len(norm) {
			t.scale[j], t.add[j] = s.keyTerms(norm[j])
		}
	}
}

// of are the terms of n items from the first on.
func (t *keyTerms) of(first, n int) (scale, add []float32) {
	return t.scale[first : first+n], t.add[first : first+n]
}

// key is that of the product with an item.
func (t *keyTerms) key(dot float32, item int) float32 {
	return float32(dot*t.scale[item]) + t.add[item]
}

// keyTerms are what a product with an item is multiplied by, and what is added, for its key.
func (s *search) keyTerms(norm float32) (scale, add float32) {
	if s.cosine {
		return -norm, 0
	}
	return -2, norm
}

// relevant returns the items of a query's class.
func (s *search) relevant(q int) []int32 {
	if k := int(s.class[q]); k >= 0 {
		return s.members.of(k)
	}
	return nil
}

// setCuts lays out the cuts and fills in the keys of relevant items, class by
// class.
func (c *counting) setCuts() {
	s := c.s
	c.layOut()
	queries := c.queriesByClass()
	classes, together := len(s.members.start)-1, 16
	if s.d > longRow {
		together = classes // one after another: each thread would hold a class
	}
	par.For(classes, together, func(lo, hi int) {
		var w classKeys
		for k := lo; k < hi; k++ {
			rows, cols := queries.of(k), s.members.of(k)
			if len(rows) == 0 {
				continue
			}
			w.cols = gather(w.cols, s.g, s.d, cols)
			x := w.cols
			if !s.self || !slices.Equal(rows, cols) {
				w.rows = gather(w.rows, s.x, s.d, rows)
				x = w.rows
			}
			w.norm = w.norm[:0]
			for _, j := range cols {
				w.norm = append(w.norm, s.norm[j])
			}
			w.products(c, rows, x, cols)
		}
	})
}

// layOut makes room for the cuts.
func (c *counting) layOut() {
	c.base = c.s.cutBases()
	total := c.base[len(c.base)-1]
	c.cut, c.upper = make([]float32, total), make([]float32, total)
	c.index, c.count, c.back = make([]int32, total), make([]int32, total), make([]int32, total)
	for i := range c.cut {
		c.cut[i], c.upper[i] = float32(math.Inf(-1)), float32(math.Inf(-1))
	}
}

// cutBases are where the cuts of each group of queries begin, and their end.
func (s *search) cutBases() []int {
	n := len(s.class)
	base := make([]int, ceilDiv(n, kernel.CutLanes)+1)
	for g := range len(base) - 1 {
		most := 0
		for q := g * kernel.CutLanes; q < min((g+1)*kernel.CutLanes, n); q++ {
			most = max(most, len(s.relevant(q)))
		}
		base[g+1] = base[g] + kernel.CutLanes*most
	}
	return base
}

// queriesByClass groups the queries, by row of x.
func (c *counting) queriesByClass() groups {
	s := c.s
	g := groups{start: make([]int, len(s.members.start)), item: make([]int32, len(s.query))}
	for _, q := range s.query {
		g.start[s.class[q]+1]++
	}
	for k := 1; k < len(g.start); k++ {
		g.start[k] += g.start[k-1]
	}
	next := append([]int(nil), g.start...)
	for _, q := range s.query {
		k := s.class[q]
		g.item[next[k]] = q
		next[k]++
	}
	return g
}

// classKeys is scratch for the products within one class.
type classKeys struct {
	packed     kernel.PackedRows
	rows, cols []float32
	norm       []float32 // of cols
	dots       []float32
}

// products fills in the cuts of queries rows, whose vectors are x, and whose relevant items
// are cols, with vectors and norms in w.
func (w *classKeys) products(c *counting, rows []int32, x []float32, cols []int32) {
	d := c.s.d
	w.packed.Pack(len(cols), d, w.cols)
	ld := w.packed.Cols()
	if n := len(rows) * ld; cap(w.dots) < n {
		w.dots = make([]float32, n)
	}
	w.packed.Dots(len(rows), x, d, 0, ld, 1, w.dots[:len(rows)*ld], ld)
	for i, q := range rows {
		at := c.base[int(q)/kernel.CutLanes] + int(q)%kernel.CutLanes
		for r, item := range cols {
			scale, add := c.s.keyTerms(w.norm[r])
			key := float32(w.dots[i*ld+r]*scale) + add
			p := at + r*kernel.CutLanes
			c.cut[p], c.upper[p], c.index[p] = key, math.Nextafter32(key, float32(math.Inf(1))), item
		}
	}
}

// gather copies rows of x, d numbers each, to out.
func gather(out, x []float32, d int, rows []int32) []float32 {
	out = slices.Grow(out[:0], len(rows)*d)
	for _, i := range rows {
		out = append(out, x[int(i)*d:(int(i)+1)*d]...)
	}
	return out
}

// use counts the block's columns for its rows, and its rows for its columns.
func (c *counting) use(b *block, lock *sync.Mutex) {
	width := ceilDiv(b.n, kernel.CutLanes) * kernel.CutLanes
	scale, add := c.cols.of(b.j, width)
	from := c.first + b.j
	for i := range b.m {
		q := c.top + b.i + i
		n := len(c.s.relevant(q))
		if n == 0 {
			continue
		}
		cuts, back := c.cuts(q / kernel.CutLanes)
		cuts.N, back.N = min(cuts.N, n), min(back.N, n)
		x, lane := b.dots[i*blockCols:], q%kernel.CutLanes
		kernel.CountRow(x[:width], scale, add, int32(from+b.n), lane, &cuts)
		kernel.CountRow(x[:width], scale, add, int32(from+b.n), lane, &back)
		for r := lane; r < cuts.N*kernel.CutLanes; r += kernel.CutLanes {
			if at := int(cuts.Index[r]) - from; at >= 0 && at < b.n {
				own(&cuts, &back, r, at, func(j int) float32 { return c.cols.key(x[j], b.j+j) })
			}
		}
	}
	if b.both {
		lock.Lock()
		defer lock.Unlock()
		c.useColumns(b)
	}
}

// useColumns counts the block's rows for its columns.
func (c *counting) useColumns(b *block) {
	scale, add := c.rows.of(b.i, b.m)
	from := c.top + b.i
	for j := 0; j < b.n; j += kernel.CutLanes {
		cuts, back := c.cuts((c.first + b.j + j) / kernel.CutLanes)
		kernel.CountColumns(b.m, b.dots[j:], blockCols, scale, add, int32(from+b.m), &cuts)
		kernel.CountColumns(b.m, b.dots[j:], blockCols, scale, add, int32(from+b.m), &back)
		for r, item := range cuts.Index[:cuts.N*kernel.CutLanes] {
			at := int(item) - from
			if at < 0 || at >= b.m || math.IsInf(float64(cuts.Cut[r]), -1) {
				continue
			}
			own(&cuts, &back, r, at, func(i int) float32 { return c.rows.key(b.dots[i*blockCols+j+r%kernel.CutLanes], b.i+i) })
		}
	}
}

// own puts the counts of cut r right in the block that holds its own item as item at: before
// it equal keys count for cuts, not for back, which has also counted the item.
func own(cuts, back *kernel.Cuts, r, at int, key func(item int) float32) {
	for j := range at {
		if key(j) == cuts.Cut[r] {
			cuts.Count[r]++
			back.Count[r]--
		}
	}
	if key(at) < back.Cut[r] {
		back.Count[r]--
	}
}

// cuts returns those of a group of rows; back are the same with the order of equal
// keys reversed: below, a key is below the next larger one.
func (c *counting) cuts(group int) (cuts, back kernel.Cuts) {
	from, to := c.base[group], c.base[group+1]
	n := (to - from) / kernel.CutLanes
	cuts = kernel.Cuts{N: n, Cut: c.cut[from:to], Upper: c.upper[from:to], Index: c.index[from:to], Count: c.count[from:to]}
	back = kernel.Cuts{N: n, Cut: cuts.Upper, Upper: cuts.Cut, Index: cuts.Index, Count: c.back[from:to]}
	return cuts, back
}

// score turns the counts into ranks and those into values.
func (c *counting) score() {
	s := c.s
	m := len(s.scores)
	par.For(len(s.query), 64, func(lo, hi int) {
		w := s.spare.Get()
		for at := lo; at < hi; at++ {
			q := int(s.query[at])
			self := int32(-1)
			if s.self {
				self = int32(q)
			}
			w.fromCounts(c, q)
			w.score(s.ks, self, s.ng, s.values[at*m:(at+1)*m])
		}
		s.spare.Put(w)
	})
}

// fromCounts fills cut and ranks of a query in ascending order.
func (w *rowScratch) fromCounts(c *counting, q int) {
	w.cut, w.ranks, w.twice = w.cut[:0], w.ranks[:0], w.twice[:0]
	p := c.base[q/kernel.CutLanes] + q%kernel.CutLanes
	for range c.s.relevant(q) {
		v, rank := code(c.cut[p], int(c.index[p])), c.count[p]
		both := rank + c.back[p]
		w.cut, w.ranks, w.twice = append(w.cut, v), append(w.ranks, rank), append(w.twice, both)
		i := len(w.cut) - 1
		for ; i > 0 && w.cut[i-1] > v; i-- {
			w.cut[i], w.ranks[i], w.twice[i] = w.cut[i-1], w.ranks[i-1], w.twice[i-1]
		}
		w.cut[i], w.ranks[i], w.twice[i] = v, rank, both
		p += kernel.CutLanes
	}
	w.leaveRelevant()
}
