package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// AllEqual reports whether there are several items, all of them the same.
func (v Embeddings) AllEqual() bool {
	for i := v.D; i < len(v.X); i += v.D {
		if !slices.Equal(v.X[:v.D], v.X[i:i+v.D]) {
			return false
		}
	}
	return v.N > 1
}

// Embeddings are labeled embeddings: x (n, d) row-major, labels nil or n long.
type Embeddings struct {
	X      []float32
	N, D   int
	Labels []int32
}

// Distinct counts the classes of labels.
func Distinct(labels []int32) int {
	seen := map[int32]bool{}
	for _, l := range labels {
		seen[l] = true
	}
	return len(seen)
}

// Fingerprint is the hex SHA-256 of n, d, the numbers and the labels.
func (v Embeddings) Fingerprint() string {
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(v.N))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(v.D))
	flush := func() { h.Write(buf); buf = buf[:0] }
	for _, x := range v.X {
		if buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x)); len(buf) >= 1<<16 {
			flush()
		}
	}
	for _, l := range v.Labels {
		if buf = binary.LittleEndian.AppendUint32(buf, uint32(l)); len(buf) >= 1<<16 {
			flush()
		}
	}
	flush()
	return hex.EncodeToString(h.Sum(nil))
}

// Unit returns v with rows of length 1; rows of length 0 stay.
func (v Embeddings) Unit() Embeddings {
	x := make([]float32, len(v.X))
	for i := range v.N {
		from, to := v.X[i*v.D:(i+1)*v.D], x[i*v.D:(i+1)*v.D]
		length := math.Sqrt(kernel.SumSquares(from))
		if length == 0 {
			continue
		}
		for k, f := range from {
			to[k] = float32(float64(f) / length)
		}
	}
	v.X = x
	return v
}
