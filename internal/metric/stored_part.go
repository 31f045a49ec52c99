package metric

import (
	"context"
	"fmt"

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
