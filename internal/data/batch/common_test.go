package batch

import (
	"errors"
	"fmt"
	"testing"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// toy returns a dataset of 8-bit images with counts[k] items of class k, in
// random order.
func toy(t testing.TB, h, w, c int, counts ...int) *data.Memory {
	t.Helper()
	pixels, labels, classes := testutil.Toy(h*w*c, counts...)
	m, err := data.NewMemory(pixels, h, w, c, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// broken cannot read one item.
type broken struct {
	*data.Memory
	at int
}

var errDisk = errors.New("disk on fire")

func (b broken) Read(i int, dst []float32) error {
	if i == b.at {
		return errDisk
	}
	return b.Memory.Read(i, dst)
}

func (b broken) ItemName(i int) string { return fmt.Sprintf("x/%d.png", i) }

// gathered reads items one by one.
func gathered(ds data.Dataset, ids []int32) (*array.Array, error) {
	h, w, c := ds.Shape()
	x := array.New(len(ids), h, w, c)
	for p, id := range ids {
		if err := ds.Read(int(id), x.Row(p)); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// shuffle is a sampler of tests: the items in random order, or in their own order.
type shuffle struct {
	groups
	size   int
	random bool
}

func ordered(ds data.Dataset, size int, random bool) Sampler {
	return &shuffle{groups: grouped(ds, Options{}), size: size, random: random}
}

func (s *shuffle) Plan(epoch int) [][]int32 {
	ids := make([]int32, len(s.labels))
	for i := range ids {
		ids[i] = int32(i)
	}
	if s.random {
		ids = rng.Shuffled(ids, rng.New(s.seed, "sampler/shuffle", uint64(epoch)))
	}
	return cut(ids, s.size, false)
}

func (s *shuffle) Steps() int     { return batches(len(s.labels), s.size, false) }
func (s *shuffle) BatchSize() int { return s.size }
func (s *shuffle) Layout() string { return LayoutGeneral }
