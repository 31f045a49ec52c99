package loss

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// denseTriplets evaluates triplets that look their distances up. Triplets come in
// runs of one anchor; where no anchor has two runs, as in every list that miners
// give, the runs are independent and are evaluated in parallel.
type denseTriplets struct {
	Table
	reduce   Reduction
	term     termRun
	triplets []Triplet
	start    []int    // run r is triplets[start[r]:start[r+1]]
	part     []Result // of each run: sums
}

// termRun is what tells one loss on triplets from another: it returns the sums of
// triplets of one anchor, whose distances to all rows are dist, and adds the slopes
// of their values to coef.
type termRun interface {
	run(ts []Triplet, dist, coef []float64) Result
}

// eval is Objective.Eval for checked shapes and one triplet or more.
func (d *denseTriplets) eval(z *array.Array, ts []Triplet, grad *array.Array) (Result, error) {
	rising, err := d.split(ts, z.Shape[0])
	if err != nil {
		return Result{}, err
	}
	if err := d.Measure(z); err != nil {
		return Result{}, err
	}
	if rising {
		par.Do(len(d.part), 1, d)
	} else {
		d.Run(0, len(d.part))
	}
	res := Result{Tuples: len(ts)}
	for _, p := range d.part {
		res.Active += p.Active
		res.Loss += p.Loss
		res.Positive += p.Positive
		res.Negative += p.Negative
	}
	if scale := d.reduce.finish(&res); grad != nil {
		d.Pull(scale, grad)
	}
	return res, nil
}

// split checks the triplets and finds their runs; rising says that each anchor has
// one.
func (d *denseTriplets) split(ts []Triplet, rows int) (rising bool, err error) {
	d.triplets, d.start, rising = ts, d.start[:0], true
	last := int32(-1)
	for i, t := range ts {
		if uint(t.A) >= uint(rows) || uint(t.P) >= uint(rows) || uint(t.N) >= uint(rows) {
			return false, fmt.Errorf("loss: %w", t.Check(i, rows))
		}
		if i == 0 || t.A != last {
			rising = rising && t.A > last
			last = t.A
			d.start = append(d.start, i)
		}
	}
	d.part = Grow(d.part, len(d.start))
	d.start = append(d.start, len(ts))
	return rising, nil
}

// Check returns an error where triplet i leaves a batch of that many rows.
func (t Triplet) Check(i, rows int) error {
	for _, r := range [3]int32{t.A, t.P, t.N} {
		if r < 0 || int(r) >= rows {
			return fmt.Errorf("triplet %d (a %d, p %d, n %d): row %d is outside the batch of %d", i, t.A, t.P, t.N, r, rows)
		}
	}
	return nil
}

// checkTriplets refuses triplets that leave a batch of that many rows.
func checkTriplets(ts []Triplet, rows int) error {
	for i, t := range ts {
		if err := t.Check(i, rows); err != nil {
			return fmt.Errorf("loss: %w", err)
		}
	}
	return nil
}

// Run evaluates runs [lo, hi).
func (d *denseTriplets) Run(lo, hi int) {
	n := d.rows
	for r := lo; r < hi; r++ {
		ts := d.triplets[d.start[r]:d.start[r+1]]
		a := int(ts[0].A) * n
		d.part[r] = d.term.run(ts, d.Dist[a:][:n], d.Coef[a:][:n])
	}
}
