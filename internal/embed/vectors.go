package embed

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// ReadVectors reads embeddings (N, D) and, unless labels names no file, their labels; or a
// folder that package store wrote, with its labels if each item has one.
func ReadVectors(embeddings string, labels data.LabelFile) (data.Embeddings, record.Source, error) {
	if store.Is(embeddings) {
		return readFolder(embeddings, labels)
	}
	var v data.Embeddings
	var x *array.Array
	var err error
	if labels.Path == "" {
		x, err = data.ReadEmbeddings(embeddings)
	} else {
		x, v.Labels, _, err = data.ReadLabeled(embeddings, labels)
	}
	if err != nil {
		return data.Embeddings{}, record.Source{}, err
	}
	v.X, v.N, v.D = x.Data, x.Rows(), x.Cols()
	src := record.Source{Embeddings: embeddings, Labels: labels.Path, Items: v.N, Dim: v.D}
	if labels.Path != "" {
		src.Classes = data.Distinct(v.Labels)
	}
	src.Fingerprint = v.Fingerprint()
	return v, src, nil
}

func readFolder(dir string, labels data.LabelFile) (data.Embeddings, record.Source, error) {
	if labels.Path != "" {
		return data.Embeddings{}, record.Source{}, fmt.Errorf("%w: %s is a folder of embeddings and has its labels in items.csv: leave out %s", data.ErrUnfit, dir, labels.Path)
	}
	f, err := store.Read(dir)
	if err != nil {
		return data.Embeddings{}, record.Source{}, err
	}
	v := f.Embeddings
	if f.Labeled() != nil {
		v.Labels = nil
	}
	src := record.Source{Embeddings: dir, Items: v.N, Dim: v.D, Fingerprint: v.Fingerprint()}
	if v.Labels != nil {
		src.Classes = len(f.Classes)
	}
	return v, src, nil
}

// ReadRoles returns the roles of the items of a folder that package store wrote; nil for an
// npy file, and where each item is searched for among all others.
func ReadRoles(embeddings string) (*data.Roles, error) {
	if !store.Is(embeddings) {
		return nil, nil
	}
	items, err := store.ReadItems(embeddings)
	if err != nil {
		return nil, err
	}
	return data.RolesAmong(len(items), func(i int) *table.Item {
		return &table.Item{Role: items[i].Role, Sequence: items[i].Sequence}
	}), nil
}
