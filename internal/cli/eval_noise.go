package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"tercet/internal/evaluate"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/run"
)

// runNoiseRate estimates the noise of what a run is trained on and writes noise.json.
func runNoiseRate(ctx context.Context, s *Streams, o evalOptions) error {
	if o.run == "" {
		return usagef("--noise-rate is about what a run is trained on: give --run")
	}
	for _, flag := range []string{"k", "distance", "clusters", "n-init", "pairs", "threshold", "save-embeddings", "fail-under", "split", "if-needed", "all-scores", "out"} {
		if o.changed(flag) {
			return usagef("--noise-rate estimates noise and scores nothing: leave out --%s", flag)
		}
	}
	if err := render.CheckFormat(o.format); err != nil {
		return &ExitError{ExitUsage, err}
	}
	r, err := o.open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.noteUnfinished(s, r); err != nil {
		return err
	}
	path := run.ResultPath(r.Dir, "noise", "", o.checkpoint)
	if !o.force {
		now := record.NoiseRate{Source: record.Source{Items: o.limit}}
		if err := keptError(run.Keep(r, path, now, "train", o.checkpoint), ""); err != nil {
			return err
		}
	}
	view := &stages{s: s}
	defer view.close()
	doc, err := evaluate.NoiseRate(ctx, r, o.checkpoint, o.limit, view.say)
	if err != nil {
		return runError(err)
	}
	view.close()
	if err := record.Write(path, doc); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error { return noiseTable(doc).Write(w, o.format) })
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
