package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
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
	h := NewVectorHash(v.N, v.D)
	h.Add(v.X)
	return h.Sum(v.Labels)
}

// VectorHash is the Fingerprint of embeddings whose rows come in parts.
type VectorHash struct {
	h   hash.Hash
	buf []byte
}

// NewVectorHash begins the fingerprint of n rows of d numbers.
func NewVectorHash(n, d int) *VectorHash {
	buf := binary.LittleEndian.AppendUint64(make([]byte, 0, 1<<16+8), uint64(n))
	return &VectorHash{sha256.New(), binary.LittleEndian.AppendUint64(buf, uint64(d))}
}

// Add adds rows, in order.
func (h *VectorHash) Add(x []float32) {
	for _, v := range x {
		h.put(math.Float32bits(v))
	}
}

func (h *VectorHash) put(v uint32) {
	if h.buf = binary.LittleEndian.AppendUint32(h.buf, v); len(h.buf) >= 1<<16 {
		h.h.Write(h.buf)
		h.buf = h.buf[:0]
	}
}

// Sum is the fingerprint of the rows with their labels.
func (h *VectorHash) Sum(labels []int32) string {
	for _, l := range labels {
		h.put(uint32(l))
	}
	h.h.Write(h.buf)
	return hex.EncodeToString(h.h.Sum(nil))
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
