// Package rng gives named, serializable streams of random numbers.
//
// A stream is set by the run's seed, a name and optional indices (epoch, step,
// image). Consumers with different names do not influence each other, so adding
// one shifts nobody else.
package rng

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Stream is a rand.Rand whose whole state can be saved and restored.
type Stream struct {
	rand.Rand
	src rand.PCG
}

// New returns the stream of (seed, name, indices). It is the same on every
// machine.
func New(seed uint64, name string, index ...uint64) *Stream {
	s := new(Stream)
	s.Reset(seed, name, index...)
	return s
}

// Reset makes s the stream of (seed, name, indices) from its beginning.
func (s *Stream) Reset(seed uint64, name string, index ...uint64) {
	var buf [256]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(name)))
	b = append(b, name...)
	for _, i := range index {
		b = binary.LittleEndian.AppendUint64(b, i)
	}
	h := sha256.Sum256(b)
	s.src.Seed(binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:]))
	s.Rand = *rand.New(&s.src)
}

// Uniform returns a number in [lo, hi).
func (s *Stream) Uniform(lo, hi float64) float64 { return lo + float64((hi-lo)*s.Float64()) }

// Shuffled returns v in a random order of s, and leaves v as it is.
func Shuffled[T any](v []T, s *Stream) []T {
	out := slices.Clone(v)
	s.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// MarshalBinary returns the stream's state.
func (s *Stream) MarshalBinary() ([]byte, error) { return s.src.MarshalBinary() }

// UnmarshalBinary restores a state from MarshalBinary.
func (s *Stream) UnmarshalBinary(b []byte) error {
	if err := s.src.UnmarshalBinary(b); err != nil {
		return fmt.Errorf("random stream: %w", err)
	}
	s.Rand = *rand.New(&s.src)
	return nil
}
