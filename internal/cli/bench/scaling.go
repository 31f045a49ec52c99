package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"tercet/internal/bench"
	"tercet/internal/cli/base"
	"tercet/internal/par"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/text"
)

// turns is how often each number of threads has its turn; the median turn counts.
const turns = 3

// checkScaling returns a usage error where --scaling is not increasing numbers of threads.
func (o options) checkScaling() error {
	if o.scaling != nil && o.changed("threads") {
		return base.Usagef("--threads and --scaling cannot be combined; --scaling lists the numbers of threads")
	}
	for i, n := range o.scaling {
		switch {
		case n < 1:
			return base.Usagef("--scaling has %d threads; give numbers from 1", n)
		case i > 0 && n <= o.scaling[i-1]:
			return base.Usagef("--scaling has %d after %d; give increasing numbers of threads, as 1,2,4", n, o.scaling[i-1])
		}
	}
	if len(o.scaling) == 1 {
		return base.Usagef("--scaling has one number of threads; give two or more, as 1,2,4")
	}
	return nil
}

// runScaling measures each job with each number of threads, interleaved, so that what else
// the machine does falls on all of them.
func runScaling(ctx context.Context, s *base.Streams, o options, jobs []bench.Job, doc *printed.Bench) error {
	defer par.SetThreads(par.Threads())
	doc.Machine.Threads = o.scaling[len(o.scaling)-1]
	bench.MeasurePeak(doc.Machine, o.scaling, o.seconds)
	for i, j := range jobs {
		s.Note("%s (%d of %d): %s", j.Name, i+1, len(jobs), j.What(o.quick))
		list, err := o.scale(ctx, j, doc.Machine)
		if err != nil {
			return errors.Join(o.printMeasured(s, doc), interruption(ctx, j, err))
		}
		doc.Results = append(doc.Results, list...)
	}
	return o.printMeasured(s, doc)
}

// scale measures one job.
func (o options) scale(ctx context.Context, j bench.Job, m *printed.Machine) ([]*printed.BenchResult, error) {
	all := make([][]*printed.BenchResult, len(o.scaling))
	for range turns {
		for i, n := range o.scaling {
			par.SetThreads(n)
			r, err := j.Measure(ctx, bench.Options{Seconds: o.seconds / turns, Quick: o.quick, Peak: m.Peak[i].GFLOPS * 1e9})
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], r)
		}
	}
	var out []*printed.BenchResult
	for i, list := range all {
		slices.SortFunc(list, func(a, b *printed.BenchResult) int { return cmp.Compare(a.Seconds, b.Seconds) })
		r := list[turns/2]
		out = append(out, r)
		r.SpeedUp = out[0].Seconds / r.Seconds
		r.Efficiency = r.SpeedUp * float64(o.scaling[0]) / float64(o.scaling[i])
	}
	return out, nil
}

// scalingTable has a row for each job and number of threads.
func scalingTable(d *printed.Bench) *render.Table {
	m := d.Machine
	t := &render.Table{
		Title: fmt.Sprintf("%s, %s/%s, kernel %s, %s", m.CPU, runtime.GOOS, runtime.GOARCH, m.Level, text.Count(runtime.NumCPU(), "processor")),
		Columns: []render.Column{{Name: "job"}, {Name: "threads"}, {Name: "time (ms)", Digits: 2}, {Name: "images or rows/s", Digits: 1},
			{Name: "speed-up", Digits: 2}, {Name: "efficiency", Percent: true}},
	}
	for _, r := range d.Results {
		t.Rows = append(t.Rows, []render.Cell{render.Text(r.Job), render.Int(r.Threads), render.Number(r.Seconds * 1e3), known(r.ImagesPerS),
			render.Number(r.SpeedUp), render.Number(r.Efficiency)})
	}
	if d.Quick {
		t.Title += ", quick"
	}
	t.Notes = append(t.Notes, fmt.Sprintf("Medians of %d turns. The speed-up is over the fewest threads, the efficiency the speed-up for each thread.", turns))
	if m.Threads > runtime.NumCPU() {
		t.Notes = append(t.Notes, fmt.Sprintf("This machine has %s: more threads take turns.", text.Count(runtime.NumCPU(), "processor")))
	}
	return t
}
