package metric

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tercet/internal/data"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/text"
	"tercet/internal/theory/compare"
	"tercet/internal/theory/measure"
)

// Measurement is what was measured of a run of model mahalanobis.
type Measurement struct {
	record.MetricStability
	file  string
	exact bool
}

// File is stability.json, gap.json or, of a claim, stability/CLAIM.json; CLAIM-circle.json on
// the circle.
func (d *Measurement) File() string { return d.file }

// Cautions are none: notes stand below the table.
func (d *Measurement) Cautions() []string { return nil }

func (d *Measurement) study() *compare.Study {
	return compare.Of(compare.Document{File: d.file, MetricStability: d.MetricStability})
}

// Table has a row for each setting; of a claim, one for each series.
func (d *Measurement) Table() *render.Table {
	layout := compare.Layout{Settings: d.Claim == "", Exact: d.exact}
	return d.study().Table(layout)
}

// Draw draws measurements, bounds and rates.
func (d *Measurement) Draw(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return d.study().Curves(filepath.Join(dir, "stability"))
}

// Measure measures the stability of a run whose metric is fitted, or its gap: samples are
// drawn from its training images, by true labels and under its own frozen map, and a metric
// is learned from each. A measurement that was interrupted resumes. Errors:
// *record.KeptError, before the work, where the document there has more, unless o.Force is
// set; those that wrap data.ErrUnfit, where options and data do not fit together.
func Measure(ctx context.Context, r *run.Run, o Options, p progress.Progress) (*Measurement, error) {
	m := &measurer{r: r, o: o, p: p, keep: newKeeper(r, p), start: time.Now()}
	var err error
	if m.pool, err = newPool(ctx, r, o, p.Say); err != nil {
		return nil, m.keep.ended(ctx, err)
	}
	if o.Claim != "" {
		return m.claim(ctx)
	}
	return m.sizes(ctx)
}

// measurer makes one measurement.
type measurer struct {
	r    *run.Run
	o    Options
	p    progress.Progress
	keep *keeper
	pool *pool
	// start is when the measurement began.
	start time.Time
}

// done reports a setting that was measured.
func (m *measurer) done(what string, n record.Sizes, e record.Estimate) {
	m.p.Note("%s, n+ = %d, n- = %d: %.4g (%s)", what, n.Pos, n.Neg, e.Value, text.Plural(e.N, "repeat", "repeats"))
}

// claim tests a statement of the theory.
func (m *measurer) claim(ctx context.Context) (*Measurement, error) {
	o := m.o
	claim, err := measure.ClaimOf(o.Claim)
	if err != nil {
		return nil, misfit(err)
	}
	name := claim.ID
	if o.Circle {
		name += "-circle"
	}
	doc := &Measurement{file: filepath.Join("stability", name+".json"), exact: o.Exact}
	asked := record.MetricOptions{Repeats: o.Repeats, Delta: o.delta(), Triplets: o.Triplets}
	if err := mayReplace(m.r, doc.file, record.MetricStability{Data: m.pool.record, Seed: o.Seed, Options: &asked}, o); err != nil {
		return nil, err
	}
	d, err := claim.Test(ctx, measure.Study{
		Source: m.pool.source, Data: m.pool.record, Zeta: claimZeta, Repeats: o.Repeats, Most: m.pool.most(), Held: m.pool.held,
		Delta: o.delta(), Triplets: o.Triplets, Seed: o.Seed, Done: m.done, Keep: m.keep,
	})
	if err != nil {
		return nil, m.keep.ended(ctx, err)
	}
	d.Seconds += m.keep.spared
	doc.MetricStability = *d
	return doc, os.MkdirAll(m.r.Path("stability"), 0o755)
}

// sizes measures what the run learned with at several sizes of samples.
func (m *measurer) sizes(ctx context.Context) (*Measurement, error) {
	o := m.o
	learner, err := learnerOf(m.r)
	if err != nil {
		return nil, err
	}
	so := measure.SweepOptions{
		Source: m.pool.source, Learner: learner, Repeats: o.Repeats, Replaced: replaced, Fresh: 1, Triples: triples,
		Triplets: o.Triplets, Held: m.pool.held, Delta: o.delta(), Seed: o.Seed, Done: m.done, Keep: m.keep,
	}
	for _, n := range o.sizes() {
		so.Sizes = append(so.Sizes, record.Sizes{Pos: n, Neg: n})
	}
	doc := &Measurement{file: o.file(), exact: o.Exact}
	doc.MetricStability = record.MetricStability{Schema: record.MetricSchema, Says: "stability", Data: m.pool.record, Seed: o.Seed}
	doc.Options = &record.MetricOptions{Repeats: o.Repeats, Sizes: o.sizes(), Delta: o.delta(), Triplets: o.Triplets}
	if err := mayReplace(m.r, doc.file, doc.MetricStability, o); err != nil {
		return nil, err
	}
	if o.Gap {
		doc.Says = "generalization gap"
		doc.Series, err = measure.Gaps(ctx, so)
	} else {
		doc.Series, err = measure.Stability(ctx, so)
	}
	doc.Seconds = time.Since(m.start).Seconds() + m.keep.spared
	return doc, m.keep.ended(ctx, err)
}

// claimZeta is the zeta of the losses that claims are tested with, as the reference has.
const claimZeta = 0.1

// misfit gives errors of what was asked for the exit code of data that do not fit.
func misfit(err error) error {
	if errors.Is(err, measure.ErrInput) || errors.Is(err, mahalanobis.ErrInput) {
		return fmt.Errorf("%w: %w", data.ErrUnfit, err)
	}
	return err
}
