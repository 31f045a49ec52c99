package metric

import (
	"context"
	"math"

	"tercet/internal/progress"
)

// Within one set the product of two rows serves both of them. Blocks of rows meet all blocks
// before them and themselves, each twice in the file's reads and once in the products.

// Share is part i, from 1, of a gallery that so many tasks count: about the same work each.
func (t *Stored) Share(i, of int) (from, to int) {
	border := func(i int) int {
		switch {
		case !t.pairs:
			return int(int64(t.s.ng) * int64(i) / int64(of))
		case i == of:
			return t.s.ng
		}
		return int(float64(t.s.ng) * math.Sqrt(float64(i)/float64(of)))
	}
	return border(i - 1), border(i)
}

// countPairs is count of the pairs whose later row is in [from, to).
func (c *chunk) countPairs(ctx context.Context, from, to int, told progress.Count, save func(done int, counts []int32) error) error {
	t, s := c.t, c.t.s
	sw := &c.c.sweep
	area := func(row int) int64 { return int64(row) * int64(row) }
	// Counts of many items take long to write: a save then follows more work.
	every := max(t.every, min(int64(len(c.c.count))<<12, 64*t.every))
	saved := area(from)
	var norm []float32
	return eachBlock(ctx, t.g, from, to, t.block, func(first int, x []float32) error {
		x = t.prepared(x)
		var err error
		if norm, err = s.normsOf(x, norm[:0], first); err != nil {
			return err
		}
		c.c.cols.set(s, norm)
		c.c.first, sw.cols, sw.self, sw.mirror = first, x, false, true
		tell := func(done int64) {
			if all := area(to) - area(from); all > 0 {
				told.Tell(int(float64(to-from)*float64(done-area(from))/float64(all)), to-from)
			}
		}
		if err := c.countBefore(ctx, first, func(rows int) { tell(area(first) + 2*int64(rows)*int64(len(norm))) }); err != nil {
			return err
		}
		c.c.top, c.c.rows, sw.rows, sw.self, sw.mirror = first, c.c.cols, x, true, false
		if err := sw.run(ctx, nil); err != nil {
			return err
		}
		done := first + len(norm)
		tell(area(done))
		if save == nil || area(done)-saved < every || done == to {
			return nil
		}
		saved = area(done)
		return save(done, c.counts(from, done))
	})
}

// countBefore counts the sweep's columns with all rows before the first of them.
func (c *chunk) countBefore(ctx context.Context, first int, done func(rows int)) error {
	t, s := c.t, c.t.s
	var norm []float32
	var terms keyTerms
	return eachBlock(ctx, t.g, 0, first, t.block, func(top int, rows []float32) error {
		rows = t.prepared(rows)
		var err error
		if norm, err = s.normsOf(rows, norm[:0], top); err != nil {
			return err
		}
		terms.set(s, norm)
		c.c.top, c.c.rows, c.c.sweep.rows = top, terms, rows
		if err := c.c.sweep.run(ctx, nil); err != nil {
			return err
		}
		done(top + len(norm))
		return nil
	})
}
