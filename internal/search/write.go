package search

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

// WriteLines writes a JSON object for each item that was found.
func (r *Result) WriteLines(w io.Writer) error {
	out := json.NewEncoder(w)
	return r.Each(func(f record.Found) error { return out.Encode(f) })
}

// WriteCSV writes a line for each item that was found.
func (r *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"query", "query_path", "rank", "item", "path", "distance", "label"}); err != nil {
		return err
	}
	err := r.Each(func(f record.Found) error {
		return out.Write([]string{strconv.Itoa(f.Query), f.QueryPath, strconv.Itoa(f.Rank), strconv.Itoa(f.Item), f.Path, strconv.FormatFloat(f.Distance, 'g', -1, 64), f.Label})
	})
	out.Flush()
	if err != nil {
		return err
	}
	return out.Error()
}

// WriteArrays writes D.npy, float32 (queries, K), and I.npy, int64, to a folder, in the
// shape of faiss: I is -1 where there is none. D are distances, not their squares.
func (r *Result) WriteArrays(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n := len(r.Index) / r.K
	d := array.New(n, r.K)
	for i, v := range r.Distance {
		d.Data[i] = float32(v)
	}
	if err := fsx.Write(filepath.Join(dir, "D.npy"), 0o644, func(w io.Writer) error { return npy.Write(w, d) }); err != nil {
		return err
	}
	return fsx.Write(filepath.Join(dir, "I.npy"), 0o644, func(w io.Writer) error { return npy.WriteInts64(w, r.Index, n, r.K) })
}

// Write writes what was found to a file: .csv, or .jsonl; a name without such an ending is
// a folder, which gets D.npy and I.npy.
func (r *Result) Write(path string) error {
	switch filepath.Ext(path) {
	case ".csv":
		return fsx.Write(path, 0o644, r.WriteCSV)
	case ".jsonl":
		return fsx.Write(path, 0o644, r.WriteLines)
	case "":
		return r.WriteArrays(path)
	}
	return fmt.Errorf("%s: give a name that ends in .csv or .jsonl, or a folder", path)
}
