package embed

import (
	"fmt"

	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/engine/array"
	"tercet/internal/record"
	"tercet/internal/vectors"
)

// ReadVectors reads embeddings (N, D), npy or of another format of package vectors, and,
// unless labels names no file, their labels; or a folder that package store wrote, with
// its labels if each item has one.
func ReadVectors(embeddings string, labels npy.LabelFile) (data.Embeddings, record.Source, error) {
	if store.Is(embeddings) {
		return readFolder(embeddings, labels)
	}
	v, err := readFile(embeddings, labels)
	if err != nil {
		return data.Embeddings{}, record.Source{}, err
	}
	src := record.Source{Embeddings: embeddings, Labels: labels.Path, Items: v.N, Dim: v.D}
	if labels.Path != "" {
		src.Classes = data.Distinct(v.Labels)
	}
	src.Fingerprint = v.Fingerprint()
	return v, src, nil
}

// readFile reads an npy file, or one of the other formats of package vectors by its name.
func readFile(embeddings string, labels npy.LabelFile) (v data.Embeddings, err error) {
	if vectors.IsVectors(embeddings) {
		return readStored(embeddings, labels)
	}
	var x *array.Array
	if labels.Path == "" {
		if x, err = npy.Read(embeddings); err != nil {
			return data.Embeddings{}, err
		}
	} else {
		sets, y, _, err := npy.ReadLabeled(npy.Labeled{Vectors: embeddings, Labels: labels})
		if err != nil {
			return data.Embeddings{}, err
		}
		x, v.Labels = sets[0], y[0]
	}
	v.X, v.N, v.D = x.Data, x.Rows(), x.Cols()
	return v, nil
}

func readStored(embeddings string, labels npy.LabelFile) (v data.Embeddings, err error) {
	f, err := vectors.Open(embeddings)
	if err != nil {
		return v, err
	}
	defer f.Close()
	v.N, v.D = f.Len(), f.Dim()
	if labels.Path != "" {
		if v.Labels, _, err = npy.ReadLabelsOf(labels, v.N, fmt.Sprintf("%s has %d rows", embeddings, v.N)); err != nil {
			return v, err
		}
	}
	v.X, err = f.All()
	return v, err
}

func readFolder(dir string, labels npy.LabelFile) (data.Embeddings, record.Source, error) {
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
