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
// network stay as they are, and queries, or with Classes classes, count as independent.
type Intervals struct {
	// Resamples is the number of bootstrap resamples; 0 means 1000, negative
	// none at all. The interval is from the 2.5th to the 97.5th percentile.
	Resamples int
	// Seed sets the resamples, which all scores share.
	Seed uint64
	// Classes, of each query, makes the resamples draw whole classes in place of queries
	// (the cluster bootstrap: Davison and Hinkley, 1997, 3.8): a resampled mean is over
	// all queries of the classes drawn. Queries of one class are not independent, so that
	// these intervals are the wider ones. Nil draws queries.
	Classes []int32
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

// add sets CI95 of all scores from the (n, len(s)) values of the n queries; with weights,
// which need classes, a query counts so often, and its values are sums.
// Fewer than two queries have no interval.
func (o Intervals) add(ctx context.Context, s record.Scores, values, weights []float64) error {
	m := len(s)
	n := len(values) / m
	if err := o.check(); err != nil {
		return err
	}
	if o.Resamples < 0 || n < 2 {
		return nil
	}
	b := &bootstrap{ctx: ctx, seed: o.Seed, n: n, m: m, values: values, resamples: o.Resamples}
	if o.Classes != nil {
		if len(o.Classes) != n {
			return fmt.Errorf("%w: %d queries, but classes of %d", ErrInput, n, len(o.Classes))
		}
		if b.byClass(o.Classes, weights); b.n < 2 {
			return nil
		}
	}
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
		if o.ExactRecall && o.Classes == nil && strings.HasPrefix(s[i].Key, "recall@") {
			ci = stat.ClopperPearson(int(math.Round(s[i].Value.Value*float64(n))), n)
		}
		s[i].CI95 = &ci
	}
	return nil
}

// OfMean is the interval of the mean of one value a query, at least two, such as the
// difference of two networks' scores: a paired bootstrap with the resamples of add. It is
// short work and is not canceled.
func (o Intervals) OfMean(values []float64) [2]float64 {
	b := &bootstrap{seed: o.Seed, n: len(values), m: 1, values: values, resamples: o.Resamples}
	if b.resamples <= 0 {
		b.resamples = 1000
	}
	b.means = make([]float64, b.resamples)
	par.Do(b.resamples, 4, b)
	return stat.Interval95(b.means)
}

type bootstrap struct {
	ctx             context.Context // nil: is not canceled
	seed            uint64
	n, m, resamples int
	values          []float64 // (n, m)
	size            []float64 // of classes: their queries, of which values are sums; nil for queries
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
	for r := lo; r < hi && (b.ctx == nil || b.ctx.Err() == nil); r++ {
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
				w.sum[i] += float64(f * v)
			}
		}
		drawn := b.drawn(w.count)
		for i, v := range w.sum {
			b.means[i*b.resamples+r] = v / drawn
		}
	}
}

// drawn is the number of queries of a resample.
func (b *bootstrap) drawn(count []uint32) float64 {
	if b.size == nil {
		return float64(b.n)
	}
	sum := 0.0
	for k, c := range count {
		sum += float64(float64(c) * b.size[k])
	}
	return sum
}

// byClass replaces the queries' values by the sums of each class.
func (b *bootstrap) byClass(labels []int32, weights []float64) {
	c := classesOf(labels)
	sums := make([]float64, len(c.size)*b.m)
	b.size = make([]float64, len(c.size))
	for q, k := range c.of {
		if weights == nil {
			b.size[k]++
		} else {
			b.size[k] += weights[q]
		}
		for i, v := range b.values[q*b.m : (q+1)*b.m] {
			sums[int(k)*b.m+i] += v
		}
	}
	b.n, b.values = 0, sums
	for k, n := range b.size { // classes without weight have no effect
		if n > 0 {
			b.size[b.n] = n
			copy(sums[b.n*b.m:(b.n+1)*b.m], sums[k*b.m:(k+1)*b.m])
			b.n++
		}
	}
}

// of are the intervals of some of the queries.
func (o Intervals) of(queries []int32) Intervals {
	if o.Classes == nil {
		return o
	}
	all := o.Classes
	o.Classes = make([]int32, 0, len(queries))
	for _, q := range queries {
		if int(q) < len(all) {
			o.Classes = append(o.Classes, all[q])
		}
	}
	return o
}

// Means fills in scores from per-query values (n, len(s)), row-major: the mean
// of each column and its 95 % interval over queries. It is for scores that
// other packages compute query by query, such as those of attacks.
func Means(ctx context.Context, s record.Scores, values []float64, o Intervals) (record.Scores, error) {
	m := len(s)
	if m == 0 || len(values) == 0 || len(values)%m != 0 {
		return nil, fmt.Errorf("means: %d values for %d scores", len(values), m)
	}
	n := len(values) / m
	for i := range s {
		sum := 0.0
		for q := range n {
			sum += values[q*m+i]
		}
		s[i].Value.Value = sum / float64(n)
	}
	return s, o.add(ctx, s, values, nil)
}
