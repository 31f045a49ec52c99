package metric

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/progress"
)

// chunk is the search for some queries: either counting, or rows of keys.
type chunk struct {
	t      *Stored
	lo, hi int // of s.query
	n      int // length of the counts
	x      []float32
	c      *counting
	rows   []rowScratch
	keys   []float32 // scratch
}

// open reads the queries of a chunk and the keys of their relevant items.
func (t *Stored) open(k int) (*chunk, error) {
	s := t.s
	c := &chunk{t: t, lo: t.start[k], hi: t.start[k+1], n: t.CountsOf(k)}
	if t.pairs {
		c.c = &counting{s: s}
		c.c.sweep = sweep{d: s.d, user: c.c}
		c.c.layOut()
		return c, c.setCuts()
	}
	query := s.query[c.lo:c.hi]
	var err error
	if c.x, err = t.gatherRows(t.x, query); err != nil {
		return nil, err
	}
	if s.cosine && !s.self {
		for i, q := range query {
			if err := s.directed(c.x[i*s.d:(i+1)*s.d], int(q)); err != nil {
				return nil, err
			}
		}
	}
	if t.small {
		c.c = &counting{s: c.local()}
		c.c.sweep = sweep{d: s.d, rows: c.x, user: c.c}
		c.c.layOut()
	} else {
		c.rows = make([]rowScratch, len(query))
	}
	if err := c.setCuts(); err != nil {
		return nil, err
	}
	if t.small {
		c.c.fineRows(c.c.limit)
	}
	return c, nil
}

// local is the search with the chunk's queries, numbered from 0, in place of all.
func (c *chunk) local() *search {
	s := c.t.s
	out := &search{d: s.d, cosine: s.cosine, fine: s.fine, members: s.members}
	for i, q := range s.query[c.lo:c.hi] {
		out.query = append(out.query, int32(i))
		out.class = append(out.class, s.class[q])
	}
	return out
}

// queriesByClass are the chunk's queries of each class, as numbered there, and the classes in
// their order.
func (c *chunk) queriesByClass() (of map[int32][]int32, order []int32) {
	s := c.t.s
	of = map[int32][]int32{}
	for i, q := range s.query[c.lo:c.hi] {
		k := s.class[q]
		if of[k] == nil {
			order = append(order, k)
			if c.t.pairs { // all that the class has
				of[k] = s.members.of(int(k))
			}
		}
		if !c.t.pairs {
			of[k] = append(of[k], int32(i))
		}
	}
	return of, order
}

// number is that of the chunk's query i in its counting.
func (c *chunk) number(i int) int {
	if c.t.pairs {
		return int(c.t.s.query[i])
	}
	return i
}

// setCuts finds the keys of relevant items, class by class.
func (c *chunk) setCuts() error {
	t, s, d := c.t, c.t.s, c.t.s.d
	of, order := c.queriesByClass()
	errs := make([]error, len(order))
	one := func(at int, w *classKeys) {
		rows, cols := of[order[at]], s.members.of(int(order[at]))
		if w.cols, errs[at] = t.gatherRows(t.g, cols); errs[at] != nil {
			return
		}
		if w.norm, errs[at] = s.normsOf(w.cols, w.norm[:0], 0); errs[at] != nil {
			query := rows[0]
			if !t.pairs {
				query = s.query[c.lo+int(query)]
			}
			errs[at] = fmt.Errorf("an item of the class of query %d: %w", query, errs[at])
			return
		}
		if t.pairs {
			w.products(c.c, rows, w.cols, cols)
			return
		}
		w.rows = gather(w.rows, c.x, d, rows)
		if c.c != nil {
			w.products(c.c, rows, w.rows, cols)
			return
		}
		w.dots = slices.Grow(w.dots[:0], len(rows)*len(cols))[:len(rows)*len(cols)]
		s.keysOf(len(rows), w.rows, w.cols, w.norm, w.dots)
		for i, q := range rows {
			r := &c.rows[q]
			r.tied.reset(len(cols))
			r.setCuts(w.dots[i*len(cols):(i+1)*len(cols)], cols)
		}
	}
	if c.c != nil { // many small classes
		par.For(len(order), 16, func(lo, hi int) {
			var w classKeys
			for at := lo; at < hi; at++ {
				one(at, &w)
			}
		})
	} else {
		var w classKeys
		for at := range order {
			one(at, &w)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// keysOf fills the keys of items g, with their norms, for m queries x: what is smaller is
// nearer.
func (s *search) keysOf(m int, x, g, norm, keys []float32) {
	n := len(norm)
	if !s.cosine {
		for i := range m {
			copy(keys[i*n:(i+1)*n], norm)
		}
		kernel.Gemm(false, true, m, n, s.d, -2, x, s.d, g, s.d, 1, keys, n)
		return
	}
	kernel.Gemm(false, true, m, n, s.d, -1, x, s.d, g, s.d, 0, keys, n)
	for i := range m {
		for j, v := range norm {
			keys[i*n+j] *= v
		}
	}
}

// count adds gallery rows [from, to) to the counts. save, where set, gets the counts of
// [from, done) after every so many pairs of a query and an item.
func (c *chunk) count(ctx context.Context, from, to int, told progress.Count, save func(done int, counts []int32) error) error {
	t, s := c.t, c.t.s
	if t.pairs {
		return c.countPairs(ctx, from, to, told, save)
	}
	m := c.hi - c.lo
	bytes := t.block
	if c.c == nil { // keys take as much as rows
		bytes = min(bytes, max(16*4*s.d, 2*t.block/(4*m)*4*s.d))
	}
	var norm []float32
	var pairs int64
	return eachBlock(ctx, t.g, from, to, bytes, func(first int, x []float32) error {
		x = t.prepared(x)
		var err error
		if norm, err = s.normsOf(x, norm[:0], first); err != nil {
			return err
		}
		if c.c != nil {
			c.c.first, c.c.sweep.cols = first, x
			c.c.cols.set(s, norm)
			c.c.fineCols(nil)
			err = c.c.sweep.run(ctx, nil)
		} else {
			c.countRows(first, x, norm)
		}
		done := first + len(norm)
		told.Tell(done-from, to-from)
		if pairs += int64(m) * int64(len(norm)); err != nil || save == nil || pairs < t.every || done == to {
			return err
		}
		pairs = 0
		return save(done, c.counts(from, done))
	})
}

// countRows counts the keys of items from first on for all queries.
func (c *chunk) countRows(first int, x, norm []float32) {
	m, n := c.hi-c.lo, len(norm)
	c.keys = slices.Grow(c.keys[:0], m*n)[:m*n]
	c.t.s.keysOf(m, c.x, x, norm, c.keys)
	par.Each(m, 1, func(i int) {
		c.rows[i].countKeys(c.keys[i*n:(i+1)*n], first)
	})
}

// counts are two numbers for each relevant item of each query, which add up over parts of
// the gallery: those of rows [from, to), which count has been given.
func (c *chunk) counts(from, to int) []int32 {
	out := make([]int32, 0, c.n)
	for i := range c.hi - c.lo {
		if c.c == nil {
			out = c.rows[i].partial(from, to, out)
			continue
		}
		out = c.c.countsOf(c.number(i), out)
	}
	return out
}

// partial appends, of a row of which items [from, to) were counted, the items before each
// relevant one and twice the irrelevant ones that are nearer, ties counting once.
func (w *rowScratch) partial(from, to int, out []int32) []int32 {
	inside := func(p int) int32 {
		if j := int(uint32(w.cut[p])); j >= from && j < to {
			return 1
		}
		return 0
	}
	var sum, relevant int32
	for a, b := 0, 0; a < len(w.cut); a = b {
		same := int32(0)
		for b = a; b < len(w.cut) && sameKey(w.cut[a], w.cut[b]); b++ {
			same += w.tied.up[b]
		}
		same += w.tied.down[b]
		before := sum + w.count[a] - relevant - inside(a) - w.tied.up[a]
		for p := a; p < b; p++ {
			sum += w.count[p]
			relevant += inside(p)
			out = append(out, sum-inside(p), 2*before+same)
		}
	}
	return out
}

// score turns counts over the whole gallery into the values of the chunk's queries.
func (c *chunk) score(counts []int32) []float64 {
	s := c.t.s
	m := len(s.scores)
	values := make([]float64, (c.hi-c.lo)*m)
	var w rowScratch
	for i := range c.hi - c.lo {
		q := s.query[c.lo+i]
		r := &w
		if c.c != nil {
			at := c.number(i)
			n := 2 * (c.c.base[at+1] - c.c.base[at])
			w.fromCounts(c.c, at, counts[:n])
			counts = counts[n:]
		} else {
			r = &c.rows[i]
			r.ranks, r.twice = r.ranks[:0], r.twice[:0]
			for range r.cut {
				r.ranks, r.twice = append(r.ranks, counts[0]), append(r.twice, counts[1])
				counts = counts[2:]
			}
		}
		self := int32(-1)
		if s.self {
			self = q
		}
		r.score(s.ks, self, s.ng, values[i*m:(i+1)*m])
	}
	return values
}
