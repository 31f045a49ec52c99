package data

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"tercet/internal/par"
	"tercet/internal/record"
)

// fingerprint computes a dataset's digest once.
type fingerprint struct {
	mu  sync.Mutex
	hex string // "" before
}

func (f *fingerprint) of(ctx context.Context, ds Dataset) (_ string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hex == "" {
		f.hex, err = Digest(ctx, ds)
	}
	return f.hex, err
}

// Digest returns the hex SHA-256 of N, H, W, C and, for each item in order, the SHA-256
// of its float32 pixels and its label. It does not depend on where the images come from
// nor on the classes' names. For images that are decoded when they are read, it hashes
// the path below the root, the size of the file, the box and the steps instead of the
// pixels. It returns an error if an item cannot be read or ctx ends.
func Digest(ctx context.Context, ds Dataset) (string, error) {
	h, w, c := ds.Shape()
	sum := sha256.New()
	buf := []byte(record.FingerprintFormat)
	for _, v := range []int{ds.Len(), h, w, c} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(v))
	}
	sum.Write(buf)
	labels := ds.Labels()
	err := eachHash(ctx, ds, func(i int, item *[sha256.Size]byte) {
		sum.Write(item[:])
		sum.Write(binary.LittleEndian.AppendUint32(buf[:0], uint32(labels[i])))
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// identified is a dataset that says which its items are without reading them.
type identified interface {
	// identity returns a hash that changes with the item's content, or false.
	identity(i int) ([sha256.Size]byte, bool)
}

func identity(ds Dataset, i int) (id [sha256.Size]byte, known bool) {
	if d, ok := ds.(identified); ok {
		return d.identity(i)
	}
	return id, false
}

func (v *view) identity(i int) ([sha256.Size]byte, bool) { return identity(v.base, v.item(i)) }

func (j *joined) identity(i int) ([sha256.Size]byte, bool) {
	ds, i := j.part(i)
	return identity(ds, i)
}

func (s stored) identity(i int) ([sha256.Size]byte, bool) {
	ds, at := origin(s.Dataset, i)
	return identity(ds, at)
}

// hashScratch is what one worker needs to hash items.
type hashScratch struct {
	pixels []float32
	bytes  []byte
}

// hashBlock is the number of items whose hashes eachHash holds at a time.
const hashBlock = 8192

// eachHash calls f with the SHA-256 of each item's little-endian float32 pixels, in
// order, or with what stands for them. The hashes of small items take more memory than the items: few are held.
func eachHash(ctx context.Context, ds Dataset, f func(i int, hash *[sha256.Size]byte)) error {
	h, w, c := ds.Shape()
	size := h * w * c
	var spare par.Free[hashScratch]
	block := make([][sha256.Size]byte, min(ds.Len(), hashBlock))
	for lo := 0; lo < ds.Len(); lo += hashBlock {
		part := block[:min(hashBlock, ds.Len()-lo)]
		err := each(ctx, len(part), 64, func(i int) error {
			s := spare.Get()
			defer spare.Put(s)
			if id, known := identity(ds, lo+i); known {
				part[i] = id
				return nil
			}
			if s.pixels == nil {
				s.pixels, s.bytes = make([]float32, size), make([]byte, 4*size)
			}
			if err := ds.Read(lo+i, s.pixels); err != nil {
				return fmt.Errorf("%s: %w", ItemName(ds, lo+i), err)
			}
			for j, v := range s.pixels {
				binary.LittleEndian.PutUint32(s.bytes[4*j:], math.Float32bits(v))
			}
			part[i] = sha256.Sum256(s.bytes)
			return nil
		})
		if err != nil {
			return err
		}
		for i := range part {
			f(lo+i, &part[i])
		}
	}
	return nil
}

// itemHashes returns the hashes of all items.
func itemHashes(ctx context.Context, ds Dataset) ([][sha256.Size]byte, error) {
	out := make([][sha256.Size]byte, 0, ds.Len())
	err := eachHash(ctx, ds, func(_ int, hash *[sha256.Size]byte) { out = append(out, *hash) })
	return out, err
}
