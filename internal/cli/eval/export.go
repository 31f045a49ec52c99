package eval

import (
	"context"
	"errors"
	"fmt"
	"io"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
	"tercet/internal/record"
	"tercet/internal/render"
)

// runExport writes a run's embeddings and scores nothing: what asks for less than all
// scores is passed over, what asks for some is refused.
func runExport(ctx context.Context, s *base.Streams, o options) error {
	if o.Run == "" {
		return base.Usagef("--save-embeddings exports those of a run: give --run")
	}
	scores := []string{"k", "distance", "bootstrap", "clusters", "n-init", "seed", "pairs", "threshold", "per-query", "fail-under", "all-scores", "if-needed", "out"}
	if given := base.Given(o.changed, scores...); given != "" {
		return base.Usagef("--save-embeddings exports embeddings and scores nothing: leave out %s, and score by a command without --save-embeddings", given)
	}
	if err := render.CheckFormat(o.Format); err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	for _, path := range evaluate.ExportPaths(o.save) {
		if err := base.Writable(path); err != nil {
			return err
		}
	}
	r, err := o.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	e, err := r.Embed(ctx, o.Checkpoint, o.Set, o.Limit, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	d, err := evaluate.Export(e, o.save, o.force)
	if kept := new(record.KeptError); errors.As(err, &kept) {
		return base.Usagef("%w; give another FILE, or --force to replace it", err)
	}
	if err != nil {
		return err
	}
	return s.Result(d, func(w io.Writer) error { return exportTable(d).Write(w, o.Format) })
}

func exportTable(d *record.Export) *render.Table {
	t := &render.Table{
		Title: fmt.Sprintf("%s: embeddings of %d %s images, checkpoint %s (step %d)",
			d.Source.Run, d.Source.Items, d.Source.Set, d.Source.Checkpoint, d.Source.Step),
		Columns: []render.Column{{Name: "file"}, {Name: "holds"}},
	}
	for _, f := range [][2]string{
		{d.Embeddings, fmt.Sprintf("embeddings, (%d, %d)", d.Source.Items, d.Source.Dim)},
		{d.Labels, "label of each row, numbered within the split"},
		{d.Items, "item, file, label and class of each row"},
	} {
		t.Rows = append(t.Rows, []render.Cell{render.Text(f[0]), render.Text(f[1])})
	}
	return t
}
