package evaluate

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/data"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Export writes the embeddings to path, and beside it their labels (X.labels.npy) and
// what each row is of (X.items.csv). Files of other content are replaced only by force:
// otherwise the error is a *KeptError, and nothing is written.
func Export(e *run.Embedded, path string, force bool) (*record.Export, error) {
	paths := ExportPaths(path)
	d := &record.Export{
		Schema: record.EmbeddingsSchema, Source: e.Source,
		Embeddings: paths[0], Labels: paths[1], Items: paths[2],
	}
	d.Cost.Forward, d.Cost.Seconds = int64(e.Vectors.Rows()), e.Seconds
	files := []exportFile{
		{d.Embeddings, func(w io.Writer) error { return data.WriteNPY(w, e.Vectors) }},
		{d.Labels, func(w io.Writer) error { return data.WriteNPYLabels(w, e.Data.Labels()) }},
		{d.Items, func(w io.Writer) error { return writeItems(e, w) }},
	}
	for _, f := range files {
		if force {
			break
		}
		if err := f.keep(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := fsx.Write(f.path, 0o644, f.fill); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func trimNPY(path string) string { return strings.TrimSuffix(path, ".npy") }

// writeItems writes a line for each row: its item's place in the set, its file where it
// has one, its label and the name of its class.
func writeItems(e *run.Embedded, w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"row", "item", "file", "label", "class"}); err != nil {
		return err
	}
	file := func(int) string { return "" }
	if n, ok := e.Data.(data.Namer); ok {
		file = n.ItemName
	}
	classes := e.Data.Classes()
	for row, label := range e.Data.Labels() {
		item := row
		if e.Items != nil {
			item = e.Items[row]
		}
		line := []string{strconv.Itoa(row), strconv.Itoa(item), file(row), strconv.Itoa(int(label)), classes[label]}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
