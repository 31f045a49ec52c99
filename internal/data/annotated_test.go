package data

import (
	"testing"

	"tercet/internal/data/table"
)

// described is a dataset of four pixels with a table.
type described struct{ *Memory }

func (described) TableItem(i int) *table.Item { return &table.Item{ImageID: string(rune('a' + i))} }

func TestTableItemsAreFoundThroughSubsets(t *testing.T) {
	t.Parallel()
	m, err := NewMemory([]uint8{1, 2, 3, 4}, 1, 1, 1, []int32{0, 0, 1, 1}, []string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := Concat(pick(described{m}, []int{3, 1}), m)
	if err != nil {
		t.Fatal(err)
	}
	if it := TableItem(both, 1); it == nil || it.ImageID != "d" {
		t.Errorf("got %+v, want d", it)
	}
	if it := TableItem(both, 2); it != nil {
		t.Errorf("got %+v of an item without a table", it)
	}
}
