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
	base       []int     // where the cuts of each query begin, and their end
	limit      []float32 // the largest cut of each query
	// The cuts of each query in ascending order, those of equal keys by index.
	cut   []float32
	index []int32
	// count has the items before each cut, less those before the query's cut before it.
	// extra has, likewise, what is to be added where of equal keys those with higher indices
	// come first.
	count []int32
	extra []int32
	spare par.Free[countScratch]

	edge             []float32   // cuts as the keys of useNear are compared with them
	sides            [2]fineSide // of rows and columns
	rowSide, colSide *fineSide
}

// countScratch is what counts in one block.
type countScratch struct {
	kernel.KeyCounts
	scale, add [panelRows]float32
	panels     [panelRows * kernel.PanelRows]float32
	near       nearScratch
}

// panelRows are the rows of a block, filled up to panels.
const panelRows = (blockRows + kernel.PanelRows - 1) / kernel.PanelRows * kernel.PanelRows

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

func (s *search) runCounting(ctx context.Context, told progress.Count) (*counting, error) {
	c := &counting{s: s, sweep: sweep{d: s.d, rows: s.x, cols: s.g, self: s.self}}
	c.sweep.user = c
	c.cols.set(s, s.norm)
	c.rows = c.cols
	c.setCuts()
	if s.self {
		c.fineCols(c.limit)
		c.fineSame()
	} else {
		c.fineRows(c.limit)
		c.fineCols(nil)
	}
	if err := c.sweep.run(ctx, func(done, total int) {
		told.Tell(int(int64(len(s.query))*int64(done)/int64(total)), len(s.query))
	}); err != nil {
		return nil, err
	}
	c.score()
	return c, nil
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
	c.limit = make([]float32, len(c.base)-1)
	c.cut, c.index = make([]float32, total+kernel.MostCuts), make([]int32, total)
	c.count, c.extra = make([]int32, total), make([]int32, total)
	none := float32(math.Inf(-1))
	for q := range c.limit {
		c.limit[q] = none
	}
	for i := range c.cut {
		c.cut[i] = none
	}
	if c.edge = c.cut; c.s.fine && c.s.cosine {
		c.edge = make([]float32, len(c.cut))
	}
}

// cutBases are where the cuts of each query begin, and their end.
func (s *search) cutBases() []int {
	base := make([]int, len(s.class)+1)
	for q := range s.class {
		base[q+1] = base[q] + len(s.relevant(q))
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
		limit, p := float32(math.Inf(-1)), c.base[q]
		for r, item := range cols {
			scale, add := c.s.keyTerms(w.norm[r])
			key := float32(w.dots[i*ld+r]*scale) + add
			limit = max(limit, key)
			v, at := code(key, int(item)), p+r
			for ; at > p && code(c.cut[at-1], int(c.index[at-1])) > v; at-- {
				c.cut[at], c.index[at] = c.cut[at-1], c.index[at-1]
			}
			c.cut[at], c.index[at] = key, item
		}
		c.limit[q] = limit
		if c.s.fine && c.s.cosine {
			norm := float32(1 / math.Sqrt(kernel.SumSquares(x[i*d:(i+1)*d])))
			for r := range cols {
				c.edge[p+r] = c.cut[p+r] * norm
			}
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
	w := c.spare.Get()
	defer c.spare.Put(w)
	scale, add := c.cols.of(b.j, roundUp(b.n, kernel.PanelRows))
	for i := range b.m {
		c.query(c.top+b.i+i, b.dots[i*blockCols:], kernel.PanelRows, scale, add, c.first+b.j, b.n, w)
	}
	if b.both {
		lock.Lock()
		defer lock.Unlock()
		c.useColumns(b, w)
	}
}

// useColumns counts the block's rows for its columns.
func (c *counting) useColumns(b *block, w *countScratch) {
	m := roundUp(b.m, kernel.PanelRows)
	scale, add := w.scale[:m], w.add[:m]
	for i := range m {
		scale[i], add[i] = 0, float32(math.Inf(1)) // no item
	}
	rowScale, rowAdd := c.rows.of(b.i, b.m)
	copy(scale, rowScale)
	copy(add, rowAdd)
	for j := 0; j < b.n; j += kernel.PanelRows {
		kernel.PanelsOfColumns(b.m, b.dots[j:], blockCols, w.panels[:])
		for k := range min(kernel.PanelRows, b.n-j) {
			c.query(c.first+b.j+j+k, w.panels[k*kernel.PanelRows:], kernel.PanelRows*kernel.PanelRows, scale, add, c.top+b.i, b.m, w)
		}
	}
}

// query counts n items, from the first on, for query q: products x, in panels stride apart,
// with their terms.
func (c *counting) query(q int, x []float32, stride int, scale, add []float32, first, n int, w *countScratch) {
	from, to := c.base[q], c.base[q+1]
	if from == to || !kernel.CountKeys(x, stride, scale, add, c.limit[q], c.cut[from:], to-from, &w.KeyCounts) {
		return
	}
	count, extra := c.count[from:to], c.extra[from:to]
	var lastCount, lastExtra int32
	for r, item := range c.index[from:to] {
		at, before, back := int(item)-first, w.Below[r], w.AtMost[r]
		switch {
		case at >= n:
			before, back = back, before
		case at >= 0:
			// Its own item is here: before it equal keys count for count, not for back, which
			// has also counted the item.
			same := int32(0)
			for j := range at {
				if key := float32(x[j/kernel.PanelRows*stride+j%kernel.PanelRows]*scale[j]) + add[j]; key == c.cut[from+r] {
					same++
				}
			}
			before, back = before+same, back-same-1
		}
		count[r] += before - lastCount
		extra[r] += back - before - lastExtra
		lastCount, lastExtra = before, back-before
	}
}

// countsOf appends, for each cut of a query, the items before it and those where of equal
// keys the ones with higher indices come first.
func (c *counting) countsOf(q int, out []int32) []int32 {
	var count, extra int32
	for p := c.base[q]; p < c.base[q+1]; p++ {
		count, extra = count+c.count[p], extra+c.extra[p]
		out = append(out, count, count+extra)
	}
	return out
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
			w.pair = c.countsOf(q, w.pair[:0])
			w.fromCounts(c, q, w.pair)
			w.score(s.ks, self, s.ng, s.values[at*m:(at+1)*m])
		}
		s.spare.Put(w)
	})
}

// fromCounts fills cut and ranks of a query from the counts of its cuts, two for each.
func (w *rowScratch) fromCounts(c *counting, q int, counts []int32) {
	w.cut, w.ranks, w.twice = w.cut[:0], w.ranks[:0], w.twice[:0]
	for p := c.base[q]; p < c.base[q+1]; p++ {
		w.cut = append(w.cut, code(c.cut[p], int(c.index[p])))
		w.ranks, w.twice = append(w.ranks, counts[0]), append(w.twice, counts[0]+counts[1])
		counts = counts[2:]
	}
	w.leaveRelevant()
}
