package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"tercet/internal/par"
)

// fingerprint computes a dataset's digest once.
type fingerprint struct {
	once sync.Once
	hex  string
}

func (f *fingerprint) of(ds Dataset) string {
	f.once.Do(func() {
		var err error
		if f.hex, err = Digest(ds); err != nil {
			f.hex = "unreadable: " + err.Error()
		}
	})
	return f.hex
}

// Digest returns the hex SHA-256 of N, H, W, C and, for each item in order, the
// SHA-256 of its float32 pixels and its label. It does not depend on where the
// images come from nor on the classes' names.
func Digest(ds Dataset) (string, error) {
	items, err := itemHashes(ds)
	if err != nil {
		return "", err
	}
	return digest(ds, items), nil
}

func digest(ds Dataset, items [][sha256.Size]byte) string {
	h, w, c := ds.Shape()
	sum := sha256.New()
	buf := []byte("tercet.data/1")
	for _, v := range []int{ds.Len(), h, w, c} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
	}
	sum.Write(buf)
	for i, y := range ds.Labels() {
		sum.Write(items[i][:])
		sum.Write(binary.LittleEndian.AppendUint32(buf[:0], uint32(y)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// hashScratch is what one worker needs to hash items.
type hashScratch struct {
	pixels []float32
	bytes  []byte
}

// itemHashes returns the SHA-256 of each item's little-endian float32 pixels.
func itemHashes(ds Dataset) ([][sha256.Size]byte, error) {
	h, w, c := ds.Shape()
	size := h * w * c
	out := make([][sha256.Size]byte, ds.Len())
	var spare par.Free[hashScratch]
	err := each(len(out), 64, func(i int) error {
		s := spare.Get()
		defer spare.Put(s)
		if s.pixels == nil {
			s.pixels, s.bytes = make([]float32, size), make([]byte, 4*size)
		}
		if err := ds.Read(i, s.pixels); err != nil {
			return fmt.Errorf("%s: %w", ItemName(ds, i), err)
		}
		for j, v := range s.pixels {
			binary.LittleEndian.PutUint32(s.bytes[4*j:], math.Float32bits(v))
		}
		out[i] = sha256.Sum256(s.bytes)
		return nil
	})
	return out, err
}
