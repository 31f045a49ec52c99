package base

import (
	"errors"
	"fmt"
	"io"

	"tercet/internal/evaluate"
	"tercet/internal/record"
	"tercet/internal/render"
)

// Export writes embeddings to path in a format of package vectors and shows what was
// written, as a table of a format of package render.
func Export(s *Streams, e *evaluate.Exportable, path, format, table string, force bool) error {
	d, err := evaluate.Export(e, path, format, force)
	if kept := new(record.KeptError); errors.As(err, &kept) {
		return Usagef("%w; give another FILE, or --force to replace it", err)
	}
	if err != nil {
		return RunError(err)
	}
	return s.Result(d, func(w io.Writer) error { return exportTable(d).Write(w, table) })
}

func exportTable(d *record.Export) *render.Table {
	title := fmt.Sprintf("%s: %d embeddings", d.Source.Embeddings, d.Source.Items)
	if d.Source.Run != "" {
		title = fmt.Sprintf("%s: embeddings of %d %s images, checkpoint %s (step %d)", d.Source.Run, d.Source.Items, d.Source.Set, d.Source.Checkpoint, d.Source.Step)
	}
	t := &render.Table{Title: title, Columns: []render.Column{{Name: "file"}, {Name: "holds"}}}
	holds := fmt.Sprintf("embeddings, (%d, %d)", d.Source.Items, d.Source.Dim)
	if b := d.Bytes; b != nil {
		holds += fmt.Sprintf("; a byte b stands for %v + %v b", b.Offset, b.Step)
	}
	for _, f := range [][2]string{
		{d.Embeddings, holds},
		{d.Labels, "label of each row, numbered within the split"},
		{d.Items, "item, file, label and class of each row"},
	} {
		if f[0] != "" {
			t.Rows = append(t.Rows, []render.Cell{render.Text(f[0]), render.Text(f[1])})
		}
	}
	return t
}
