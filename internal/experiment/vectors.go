package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"tercet/internal/data"
)

// readVectors reads embeddings (N, D) and, unless labels is "", their labels.
func readVectors(embeddings, labels string) (vectors, Source, error) {
	x, err := data.ReadEmbeddings(embeddings)
	if err != nil {
		return vectors{}, Source{}, err
	}
	v := vectors{x: x.Data, n: x.Rows(), d: x.Cols()}
	src := Source{Embeddings: embeddings, Labels: labels, Items: v.n, Dim: v.d}
	if labels != "" {
		if v.labels, _, err = data.ReadLabels(labels); err != nil {
			return vectors{}, Source{}, err
		}
		if len(v.labels) != v.n {
			return vectors{}, Source{}, fmt.Errorf("%w: %s has %d labels, %s has %d rows", data.ErrFormat, labels, len(v.labels), embeddings, v.n)
		}
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
