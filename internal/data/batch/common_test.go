package batch

import (
	"errors"
	"fmt"
	"testing"

	"tercet/internal/data"
	"tercet/internal/engine/array"
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
