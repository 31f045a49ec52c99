package evaluate

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed/store"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/vectors"
)

// Exportable holds embeddings and a description of each row.
type Exportable struct {
	source  record.Source
	x       data.Embeddings // labels nil where no item has one
	classes []string
	item    func(row int) (place int, file string)
	cost    record.CostRecord
}

// OfRun are the embeddings of a run, to be exported.
func OfRun(e *run.Embedded) *Exportable {
	out := &Exportable{source: e.Source, classes: e.Data.Classes()}
	out.x = data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}
	out.cost.Forward, out.cost.Seconds = int64(out.x.N), e.Seconds
	file := func(int) string { return "" }
	if n, ok := e.Data.(data.Namer); ok {
		file = n.ItemName
	}
	out.item = func(row int) (int, string) {
		place := row
		if e.Items != nil {
			place = e.Items[row]
		}
		return place, file(row)
	}
	return out
}

// OfFolder are the embeddings of a folder that tercet embed wrote, to be exported.
func OfFolder(dir string) (*Exportable, error) {
	f, err := store.Read(dir)
	if err != nil {
		return nil, err
	}
	src := record.Source{Embeddings: dir, Items: f.N, Dim: f.D, Classes: len(f.Classes), Fingerprint: f.Fingerprint()}
	return &Exportable{source: src, x: f.Embeddings, classes: f.Classes, item: func(row int) (int, string) { return row, f.Items[row].Path }}, nil
}

// Export writes the embeddings to path in a format of package vectors, with their labels,
// if any (X.labels.npy), and a description of each row (X.items.csv). Files with other
// content are replaced only with force; otherwise it writes nothing and returns a
// *KeptError.
func Export(e *Exportable, path, format string, force bool) (*record.Export, error) {
	paths := ExportPaths(path)
	d := &record.Export{Schema: record.EmbeddingsSchema, Source: e.source, Embeddings: paths[0], Items: paths[2], Cost: e.cost}
	if format != "npy" {
		d.Format = format
	}
	files := []exportFile{
		{d.Embeddings, func(w io.Writer) error {
			scale, err := vectors.Write(w, format, e.x.X, e.x.N, e.x.D)
			if scale != nil {
				d.Bytes = &record.ByteScale{Offset: scale.Offset, Step: scale.Step}
			}
			return err
		}},
		{d.Items, e.writeItems},
	}
	if e.x.Labels != nil {
		d.Labels = paths[1]
		files = append(files, exportFile{d.Labels, func(w io.Writer) error { return npy.WriteLabels(w, e.x.Labels) }})
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

// trimFormat is a path without the ending of a format of vectors.
func trimFormat(path string) string {
	if vectors.FormatOf(path) == "" {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(path))
}

// writeItems writes a line for each row: its item's place in the set, its file where it
// has one, its label and the name of its class.
func (e *Exportable) writeItems(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"row", "item", "file", "label", "class"}); err != nil {
		return err
	}
	for row := range e.x.N {
		place, file := e.item(row)
		line := []string{strconv.Itoa(row), strconv.Itoa(place), file, "", ""}
		if e.x.Labels != nil && e.x.Labels[row] >= 0 {
			line[3], line[4] = strconv.Itoa(int(e.x.Labels[row])), e.classes[e.x.Labels[row]]
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
