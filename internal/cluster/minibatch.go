package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/text"
)

const (
	batchEpochs  = 100 // passes over as many rows as there are
	batchStarts  = 3
	batchPatient = 10       // steps without a better smoothed inertia that end the search
	batchStarved = .01      // share of the largest cluster's rows below which a center is placed again
	finalRows    = 8 << 10  // rows labeled at a time in the end
	batchSample  = 3        // batches in the sample that the first centers come from
	batchDraws   = 10       // rows per center between two looks for starved ones
	batchFloor   = 16 << 10 // rows the sample has at least, where there are so many
)

// batches are the steps of mini-batch k-means: the first centers are those of
// k-means (the best of Restarts) on a random sample of the rows; then each step draws
// MiniBatch rows, gives them their nearest centers, and moves each center to the mean
// of all rows it ever got, those of the sample included. Every 10 k rows a center with
// less than a hundredth of the largest one's rows is put on a random row of the batch.
// The steps end when the inertia per row, smoothed over n/2 rows, has not fallen for 10
// steps, not before n rows were drawn, or after MaxIterations*n rows. All rows are labeled in the end, as exactly
// as by full k-means.
type batches struct {
	frame
	k     int
	x     []float32 // (n, d)
	n     int
	block *lloyd // of the rows of one batch
	count []float64
	sum   []float64 // (k, d)
	rows  []int     // of the batch
}

func miniBatch(ctx context.Context, f frame, x []float32, n int, o KMeansOptions) (*KMeansResult, error) {
	if o.Restarts == 0 {
		o.Restarts = batchStarts
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = batchEpochs
	}
	b := &batches{frame: f, k: o.K, x: x, n: n}
	first, restart, err := b.start(ctx, o)
	if err != nil {
		return nil, err
	}
	b.block = b.room(o.MiniBatch)
	b.rows = make([]int, o.MiniBatch)
	copy(b.block.center, first)
	steps, converged, err := b.run(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("mini-batch k-means stopped after %d steps: %w", steps, err)
	}
	r := &KMeansResult{Centers: b.block.original(), Labels: make([]int32, n), Sizes: make([]int, o.K), Iterations: steps, Restart: restart, Converged: converged}
	if err := b.label(ctx, r); err != nil {
		return nil, err
	}
	if empty := o.K - used(r.Sizes); empty > 0 {
		r.Warnings = append(r.Warnings, emptyClusters(empty, o.K))
	}
	if !r.Converged {
		r.Warnings = append(r.Warnings, fmt.Sprintf("not converged after %s of %s: raise the limit", text.Count(steps, "step"), text.Count(o.MiniBatch, "row")))
	}
	return r, nil
}

// room makes a start on the given number of rows, which are still to be loaded.
func (b *batches) room(rows int) *lloyd {
	data := &centered{frame: b.frame, n: rows, x: make([]float32, rows*b.d)}
	return newStart(newPoints(data), b.k)
}

// start runs k-means on a sample and returns its centers and the number of the start
// that they came from; sums and counts are the sample's.
func (b *batches) start(ctx context.Context, o KMeansOptions) (center []float64, restart int, err error) {
	m := min(b.n, max(batchSample*max(o.MiniBatch, o.K), batchFloor))
	r := rng.New(o.Seed, "cluster/minibatch/sample")
	sample := make([]float32, 0, m*b.d)
	for _, i := range draw(r, b.n, m) {
		sample = append(sample, b.x[i*b.d:(i+1)*b.d]...)
	}
	p := newPoints(b.frame.all(sample, m))
	full := o
	full.MaxIterations, full.Tolerance, full.Progress = 300, 1e-4, nil
	best, err := full.best(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	b.count, b.sum = make([]float64, b.k), make([]float64, b.k*b.d)
	for i, c := range best.Labels {
		b.count[c]++
		kernel.AddRow(b.sum[int(c)*b.d:(int(c)+1)*b.d], p.row(i))
	}
	center = make([]float64, b.k*b.d)
	for c := range b.k {
		at := c * b.d
		if b.count[c] == 0 { // fewer distinct rows in the sample than clusters
			i := r.IntN(m)
			b.count[c] = 1
			kernel.AddRow(b.sum[at:at+b.d], p.row(i))
		}
		b.frame.moveCenter(center[at:at+b.d], b.sum[at:at+b.d], b.count[c])
	}
	return center, best.Restart, nil
}

// run does the steps.
func (b *batches) run(ctx context.Context, o KMeansOptions) (steps int, converged bool, err error) {
	r := rng.New(o.Seed, "cluster/minibatch")
	batch := o.MiniBatch
	most := int(math.Ceil(float64(o.MaxIterations) * float64(b.n) / float64(batch)))
	weight := min(1, 2*float64(batch)/float64(b.n+1))
	smooth, least := math.NaN(), math.Inf(1)
	since, bad := 0, 0
	for steps = 0; steps < most; {
		for i := range b.rows {
			b.rows[i] = r.IntN(b.n)
		}
		if err := b.assign(ctx, b.block, b.rows); err != nil {
			return steps, false, err
		}
		inertia := b.block.inertia() / float64(batch)
		b.move()
		steps++
		if since += batch; since >= batchDraws*b.k {
			since = 0
			b.place(r)
		}
		if o.Progress != nil {
			o.Progress(0, steps)
		}
		if math.IsNaN(smooth) {
			smooth = inertia
		} else {
			smooth += float64(weight * (inertia - smooth))
		}
		if bad++; smooth < least {
			least, bad = smooth, 0
		}
		if bad >= batchPatient && steps*batch >= b.n {
			return steps, true, nil
		}
	}
	return steps, false, nil
}

// assign loads rows of the data into l and gives each its nearest center.
func (b *batches) assign(ctx context.Context, l *lloyd, rows []int) error {
	d := b.d
	par.Each(len(rows), 64, func(i int) {
		b.load(b.x[rows[i]*d:(rows[i]+1)*d], l.data.x[i*d:(i+1)*d])
	})
	l.data.usual = math.Sqrt(kernel.SumSquares(l.data.x) / float64(len(rows)))
	l.data.pack()
	l.reset()
	return l.data.assigning.run(ctx, []*lloyd{l})
}

// move adds the rows of the batch to their clusters and moves the centers.
func (b *batches) move() {
	l, d := b.block, b.d
	for i, c := range l.labels {
		kernel.AddRow(b.sum[int(c)*d:(int(c)+1)*d], l.data.row(i))
	}
	for c, size := range l.size {
		if size > 0 {
			b.count[c] += float64(size)
			b.moveCenter(l.center[c*d:(c+1)*d], b.sum[c*d:(c+1)*d], b.count[c])
		}
	}
}

// place puts starved centers on rows of the batch, at most half of them, and gives
// them the count of the smallest of the others.
func (b *batches) place(r *rng.Stream) {
	l, d := b.block, b.d
	limit := batchStarved * slices.Max(b.count)
	var starved []int
	least := math.Inf(1)
	for c, n := range b.count {
		if n < limit {
			starved = append(starved, c)
		} else {
			least = min(least, n)
		}
	}
	if len(starved) == 0 {
		return
	}
	slices.SortStableFunc(starved, func(i, j int) int { return cmp.Compare(b.count[i], b.count[j]) })
	starved = starved[:min(len(starved), len(l.labels)/2)]
	for j, i := range draw(r, len(l.labels), len(starved)) {
		c := starved[j]
		b.count[c] = least
		for t, v := range l.data.row(i) {
			l.center[c*d+t] = float64(v)
			b.sum[c*d+t] = float64(v) * least
		}
	}
}

// label gives all rows their nearest centers.
func (b *batches) label(ctx context.Context, r *KMeansResult) error {
	var l *lloyd
	var rows []int
	for lo := 0; lo < b.n; lo += finalRows {
		m := min(finalRows, b.n-lo)
		if l == nil || l.data.n != m {
			l, rows = b.room(m), make([]int, m)
			copy(l.center, b.block.center)
		}
		for i := range rows {
			rows[i] = lo + i
		}
		if err := b.assign(ctx, l, rows); err != nil {
			return fmt.Errorf("k-means stopped at row %d of %d: %w", lo, b.n, err)
		}
		copy(r.Labels[lo:], l.labels)
		for c, s := range l.size {
			r.Sizes[c] += s
		}
		r.Inertia += l.inertia()
	}
	r.Inertia /= b.scale * b.scale
	return nil
}
