package metric

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/progress"
)

// Part says which rows of the gallery are counted, and what was counted before: a Share, or
// what of it remains.
type Part struct {
	From, To int
	// Done, with Counts, says that rows [From, Done) were counted; Done below From: none.
	Done   int
	Counts []int32
	Told   progress.Count // gets the rows done of To-From
	// Save, where set, is given the counts of rows [From, done) now and then: they are the
	// Counts of a later call, which resumes there.
	Save func(done int, counts []int32) error
}

// countPart returns the counts of rows [p.From, p.To).
func (c *chunk) countPart(ctx context.Context, p Part) ([]int32, error) {
	from := max(p.From, p.Done)
	if from == p.From {
		p.Counts = nil
	}
	add := func(counts []int32) []int32 {
		for i, n := range p.Counts {
			counts[i] += n
		}
		return counts
	}
	var save func(done int, counts []int32) error
	if p.Save != nil {
		save = func(done int, counts []int32) error { return p.Save(done, add(counts)) }
	}
	told := func(done, _ int) { p.Told.Tell(from-p.From+done, p.To-p.From) }
	if err := c.count(ctx, from, p.To, told, save); err != nil {
		return nil, err
	}
	return add(c.counts(from, p.To)), nil
}

// Count returns the counts of a chunk over a part of the gallery.
func (t *Stored) Count(ctx context.Context, k int, p Part) ([]int32, error) {
	c, err := t.open(k)
	if err == nil {
		err = t.checkPart(k, p)
	}
	if err != nil {
		return nil, err
	}
	return c.countPart(ctx, p)
}

func (t *Stored) checkPart(k int, p Part) error {
	if p.Done > p.From && (p.Done > p.To || len(p.Counts) != t.CountsOf(k)) {
		return fmt.Errorf("%w: %d counts of chunk %d up to row %d, want %d up to at most %d", ErrInput, len(p.Counts), k, p.Done, t.CountsOf(k), p.To)
	}
	return nil
}

// Score returns the values of a chunk's queries, (queries, Scores), from the sum of the
// counts over parts that make up the gallery.
func (t *Stored) Score(k int, counts []int32) ([]float64, error) {
	c, err := t.open(k)
	if err != nil {
		return nil, err
	}
	if len(counts) != t.CountsOf(k) {
		return nil, fmt.Errorf("%w: %d counts of chunk %d, want %d", ErrInput, len(counts), k, t.CountsOf(k))
	}
	return c.score(counts), nil
}

// Values returns the values of a chunk's queries, (queries, Scores); p is the whole gallery.
func (t *Stored) Values(ctx context.Context, k int, p Part) ([]float64, error) {
	p.From, p.To = 0, t.s.ng
	c, err := t.open(k)
	if err == nil {
		err = t.checkPart(k, p)
	}
	if err != nil {
		return nil, err
	}
	counts, err := c.countPart(ctx, p)
	if err != nil {
		return nil, err
	}
	return c.score(counts), nil
}

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
		c.c.fineCols(c.c.limit[first:])
		tell := func(done int64) {
			if all := area(to) - area(from); all > 0 {
				told.Tell(int(float64(to-from)*float64(done-area(from))/float64(all)), to-from)
			}
		}
		if err := c.countBefore(ctx, first, func(rows int) { tell(area(first) + 2*int64(rows)*int64(len(norm))) }); err != nil {
			return err
		}
		c.c.top, c.c.rows, sw.rows, sw.self, sw.mirror = first, c.c.cols, x, true, false
		c.c.fineSame()
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
		c.c.fineRows(c.c.limit[top:])
		if err := c.c.sweep.run(ctx, nil); err != nil {
			return err
		}
		done(top + len(norm))
		return nil
	})
}
