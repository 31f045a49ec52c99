package data

import (
	"errors"
	"fmt"
	"testing"

	"tercet/internal/testutil"
)

// toy returns a dataset of 8-bit images with counts[k] items of class k, in
// random order.
func toy(t testing.TB, h, w, c int, counts ...int) *Memory {
	t.Helper()
	pixels, labels, classes := testutil.Toy(h*w*c, counts...)
	m, err := NewMemory(pixels, h, w, c, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// broken cannot read one item.
type broken struct {
	*Memory
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
