package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/record"
)

// readVectors reads embeddings (N, D) and, unless labels names no file, their labels.
func readVectors(embeddings string, labels data.LabelFile) (vectors, record.Source, error) {
	var v vectors
	var x *array.Array
	var err error
	if labels.Path == "" {
		x, err = data.ReadEmbeddings(embeddings)
	} else {
		x, v.labels, _, err = data.ReadLabelled(embeddings, labels)
	}
	if err != nil {
		return vectors{}, record.Source{}, err
	}
	v.x, v.n, v.d = x.Data, x.Rows(), x.Cols()
	src := record.Source{Embeddings: embeddings, Labels: labels.Path, Items: v.n, Dim: v.d}
	if labels.Path != "" {
		src.Classes = distinct(v.labels)
	}
	src.Fingerprint = v.fingerprint()
	return v, src, nil
}

// fingerprint is the hex SHA-256 of n, d, the numbers and the labels.
func (v vectors) fingerprint() string {
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(v.n))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(v.d))
	flush := func() { h.Write(buf); buf = buf[:0] }
	for _, x := range v.x {
		if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x)); len(buf) >= 1<<16 {
			flush()
		}
	}
	for _, l := range v.labels {
		if buf = binary.LittleEndian.AppendUint32(buf, uint32(l)); len(buf) >= 1<<16 {
			flush()
		}
	}
	flush()
	return hex.EncodeToString(h.Sum(nil))
}
