package solve

import (
	"io"
	"os"
	"path/filepath"

	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/record"
)

// Files are the names of what Write writes beside cluster.json, or removes since a
// clustering has none of it.
func Files() []string {
	return []string{"labels.npy", "probabilities.npy", ModelFile, "tsne.npy", "pca.npy"}
}

// Vacant refuses, with a *KeptError, a folder that has files of the names that Write
// writes and no clustering that they are of: they are somebody's own.
func Vacant(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "cluster.json")); err == nil {
		return nil
	}
	for _, name := range Files() {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			return &record.KeptError{Path: path, Lost: []string{"a file that is not of a clustering (there is no cluster.json in its folder)"}}
		}
	}
	return nil
}

// Write writes cluster.json, labels.npy and what else there is of the clustering into
// dir: the coordinates of maps as tsne.npy and pca.npy, the membership probabilities
// of hdbscan, what new items are assigned by.
func (c *Result) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string]func(io.Writer) error{
		"labels.npy": func(w io.Writer) error { return npy.WriteLabels(w, c.Doc.Labels) },
		// nil: those that are there are of another clustering
		"probabilities.npy": nil,
		"tsne.npy":          nil,
		"pca.npy":           nil,
		ModelFile:           nil,
	}
	for _, m := range c.Maps {
		files[m.Kind+".npy"] = func(w io.Writer) error { return writeColumns(w, m.Points, 2) }
	}
	if c.Probabilities != nil {
		p := make([]float32, len(c.Probabilities))
		for i, v := range c.Probabilities {
			p[i] = float32(v)
		}
		files["probabilities.npy"] = func(w io.Writer) error { return writeColumns(w, p, 1) }
	}
	if c.Model != nil {
		files[ModelFile] = c.Model.write
	}
	if err := record.Write(filepath.Join(dir, "cluster.json"), c.Doc); err != nil {
		return err
	}
	for name, fill := range files {
		path := filepath.Join(dir, name)
		var err error
		if fill != nil {
			err = fsx.Write(path, 0o644, fill)
		} else if err = os.Remove(path); os.IsNotExist(err) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeColumns writes x as npy, (n, cols).
func writeColumns(w io.Writer, x []float32, cols int) error {
	a, err := array.Of(x, len(x)/cols, cols)
	if err != nil {
		return err
	}
	return npy.Write(w, a)
}
