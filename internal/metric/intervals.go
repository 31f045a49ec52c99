package metric

import (
	"context"
	"fmt"
	"math"
	"strings"

	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// Intervals says how 95 % intervals over queries are made. They tell how far a
// score would move with other queries of the same kind: the gallery and the
// network stay as they are, and queries count as independent.
type Intervals struct {
	// Resamples is the number of bootstrap resamples; 0 means 1000, negative
	// none at all. The interval is from the 2.5th to the 97.5th percentile.
	Resamples int
	// Seed sets the resamples, which all scores share.
	Seed uint64
	// ExactRecall gives recall@k the exact binomial interval of Clopper and
	// Pearson (Biometrika 26, 1934) instead; it is not narrower than 95 %.
	ExactRecall bool
}

// MinResamples is the least number of resamples whose 2.5 % quantiles mean
// something.
const MinResamples = 100

// MaxResamples bounds Intervals.Resamples: more take memory and time that no
// interval repays.
const MaxResamples = 1_000_000

func (o Intervals) check() error {
	if o.Resamples > MaxResamples {
		return fmt.Errorf("%w: %d bootstrap resamples; at most %d are made", ErrInput, o.Resamples, MaxResamples)
	}
	return nil
}

// add sets CI95 of all scores from the (n, len(s)) values of the n queries.
// Fewer than two queries have no interval.
func (o Intervals) add(ctx context.Context, s record.Scores, values []float64) error {
	m := len(s)
	n := len(values) / m
	if err := o.check(); err != nil {
		return err
	}
	if o.Resamples < 0 || n < 2 {
		return nil
	}
	b := &bootstrap{ctx: ctx, seed: o.Seed, n: n, m: m, values: values, resamples: o.Resamples}
	if b.resamples == 0 {
		b.resamples = 1000
	}
	b.means = make([]float64, m*b.resamples)
	par.Do(b.resamples, 4, b)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("bootstrap stopped: %w", err)
	}
	for i := range s {
		v := b.means[i*b.resamples : (i+1)*b.resamples]
		ci := stat.Interval95(v)
		if o.ExactRecall && strings.HasPrefix(s[i].Key, "recall@") {
			ci = stat.ClopperPearson(int(math.Round(s[i].Value.Value*float64(n))), n)
		}
		s[i].CI95 = &ci
	}
	return nil
}

type bootstrap struct {
	ctx             context.Context
	seed            uint64
	n, m, resamples int
	values          []float64 // (n, m)
	means           []float64 // (m, resamples)
	spare           par.Free[bootScratch]
}

type bootScratch struct {
	stream rng.Stream
	count  []uint32 // times that each query was drawn
	sum    []float64
}

// Run makes resamples [lo, hi).
func (b *bootstrap) Run(lo, hi int) {
	w := b.spare.Get()
	defer b.spare.Put(w)
	if w.count == nil {
		w.count, w.sum = make([]uint32, b.n), make([]float64, b.m)
	}
	for r := lo; r < hi && b.ctx.Err() == nil; r++ {
		w.stream.Reset(b.seed, "metric/bootstrap", uint64(r))
		clear(w.count)
		for range b.n {
			w.count[w.stream.Uint64N(uint64(b.n))]++
		}
		clear(w.sum)
		for q, c := range w.count {
			if c == 0 {
				continue
			}
			f := float64(c)
			for i, v := range b.values[q*b.m : (q+1)*b.m] {
				w.sum[i] += f * v
			}
		}
		for i, v := range w.sum {
			b.means[i*b.resamples+r] = v / float64(b.n)
		}
	}
}
