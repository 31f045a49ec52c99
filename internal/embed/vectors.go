package embed

import (
	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// ReadVectors reads embeddings (N, D) and, unless labels names no file, their labels.
func ReadVectors(embeddings string, labels data.LabelFile) (data.Embeddings, record.Source, error) {
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
