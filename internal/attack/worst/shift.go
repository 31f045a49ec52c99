package worst

import (
	"math"

	"tercet/internal/engine/array"
)

// shiftStarts is the number of random starts of the member shift.
const shiftStarts = 5

// shifts moves embeddings as far as they go from where they are. At the clean image that has
// no gradient.
func (r *runner) shifts(b *batch) error { return r.repeat(b, shiftLoss{b.clean}, shiftStarts) }

// shiftLoss is the distance from the clean embedding, negative.
type shiftLoss struct{ from *array.Array }

func (shiftLoss) searched() int { return searchedRows }
func (l shiftLoss) of(rows []int) loss {
	out := shiftLoss{array.New(len(rows), l.from.Cols())}
	for k, i := range rows {
		copy(out.from.Row(k), l.from.Row(i))
	}
	return out
}
func (l shiftLoss) retain(rows []int) {
	for to, from := range rows {
		copy(l.from.Row(to), l.from.Row(from))
	}
	l.from.SetRows(len(rows))
}
func (l shiftLoss) at(_ field, i int, z, grad []float32) float64 {
	from := l.from.Row(i)
	far := math.Sqrt(squared(z, from))
	if grad != nil {
		for k, v := range z {
			grad[k] = float32((float64(from[k]) - float64(v)) / max(far, 1e-12))
		}
	}
	return -far
}
