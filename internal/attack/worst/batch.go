package worst

import (
	"tercet/internal/engine/array"
)

// batch is queries that are attacked together.
type batch struct {
	places  []int // among the queries of the run
	items   []int // among the images
	ids     []uint64
	x       *array.Array // (B, H, W, C) clean
	clean   *array.Array // (B, D) its embeddings
	adv     *array.Array // (B, H, W, C) what is tried
	claimed []bool       // what an attack takes for broken
	broken  []bool       // and what verification agrees on
}

func newBatch(b, d int, shape ...int) *batch {
	size := append([]int{b}, shape...)
	return &batch{x: array.New(size...), adv: array.New(append([]int(nil), size...)...), clean: array.New(b, d)}
}

func (b *batch) resize(n int) {
	b.x.SetRows(n)
	b.adv.SetRows(n)
	b.clean.SetRows(n)
	b.places, b.items, b.ids = b.places[:0], b.items[:0], b.ids[:0]
	b.claimed, b.broken = append(b.claimed[:0], make([]bool, n)...), append(b.broken[:0], make([]bool, n)...)
}

func (b *batch) add(place, item int) {
	b.places, b.items, b.ids = append(b.places, place), append(b.items, item), append(b.ids, uint64(item))
}

// take makes b some rows of another batch.
func (b *batch) take(from *batch, rows []int) *batch {
	b.resize(len(rows))
	for k, i := range rows {
		b.add(from.places[i], from.items[i])
		copy(b.x.Row(k), from.x.Row(i))
		copy(b.clean.Row(k), from.clean.Row(i))
	}
	return b
}

// open lists the rows that are not broken.
func (b *batch) open() []int {
	var rows []int
	for i, broken := range b.broken {
		if !broken {
			rows = append(rows, i)
		}
	}
	return rows
}
