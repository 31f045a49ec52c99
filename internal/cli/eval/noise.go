package eval

import (
	"context"
	"fmt"
	"io"
	"slices"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
)

// runNoiseRate estimates the noise of what a run is trained on and writes noise.json.
func runNoiseRate(ctx context.Context, s *base.Streams, o options) error {
	if o.Run == "" {
		return base.Usagef("--noise-rate is about what a run is trained on: give --run")
	}
	for _, flag := range []string{"k", "distance", "clusters", "n-init", "pairs", "threshold", "save-embeddings", "fail-under", "split", "if-needed", "all-scores", "out"} {
		if o.changed(flag) {
			return base.Usagef("--noise-rate estimates noise and scores nothing: leave out --%s", flag)
		}
	}
	if err := render.CheckFormat(o.Format); err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	r, err := o.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	path := run.ResultPath(r.Dir, "noise", "", o.Checkpoint)
	if !o.force {
		now := record.NoiseRate{Source: record.Source{Items: o.Limit}}
		if err := base.KeptError(run.Keep(r, path, now, "train", o.Checkpoint), ""); err != nil {
			return err
		}
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	doc, err := evaluate.NoiseRate(ctx, r, o.Checkpoint, o.Limit, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	if err := record.Write(path, doc); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error { return noiseTable(doc).Write(w, o.Format) })
}

// noiseTable shows what each method says, and the truth where it is known.
func noiseTable(d *record.NoiseRate) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: noise of the %s", d.Source.Run, d.Of),
		Columns: []render.Column{{Name: "method"}, {Name: "rate"}, {Name: "from"}},
	}
	for _, e := range append([]noise.Estimate{d.Estimate}, d.Others...) {
		what := "losses"
		if e.Method == noise.Contradictions {
			what = fmt.Sprintf("couples labelled twice, %d of them both ways", e.Contradictions)
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(e.Method), render.Interval(e.P, e.CI95[0], e.CI95[1]), render.Text(fmt.Sprintf("%d %s", e.N, what))})
	}
	if tr := d.Truth; tr != nil {
		t.Rows = append(t.Rows, []render.Cell{render.Text("truth (" + tr.Kind + ")"), render.Number(tr.Found), render.Text(fmt.Sprintf("wanted %.4g", tr.Wanted))})
	}
	if d.Effective != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("of balanced pairs %.4f are wrong then (effective noise)", *d.Effective))
	}
	var methods []string
	for m := range d.Failed {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	for _, m := range methods {
		t.Notes = append(t.Notes, m+": "+d.Failed[m])
	}
	return t
}
