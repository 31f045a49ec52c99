package mine

import (
	"fmt"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// Labels passes the classes of a batch to objectives on labels. Without another miner it
// uses neither distances nor random numbers, and its Stats are empty.
type Labels struct {
	of    []int32 // label of the data to class, -1 for none
	other Miner   // finds tuples, too; may be nil
}

// NewLabels returns the miner of data with these labels: the classes are those that occur,
// counted from 0 in the order of their labels.
func NewLabels(all []int32) *Labels {
	m := &Labels{}
	if len(all) > 0 {
		m.of = make([]int32, slices.Max(all)+1)
	}
	for _, y := range all {
		m.of[y] = 1
	}
	n := int32(0)
	for y, there := range m.of {
		m.of[y] = -1
		if there > 0 {
			m.of[y] = n
			n++
		}
	}
	return m
}

// With returns m with the tuples of another miner.
func (m *Labels) With(other Miner) *Labels { return &Labels{m.of, other} }

// Classes returns the label of each class.
func (m *Labels) Classes() (out []int32) {
	for y, c := range m.of {
		if c >= 0 {
			out = append(out, int32(y))
		}
	}
	return out
}

// Bound implements Bounded for the other miner.
func (m *Labels) Bound(count map[int32]int) error {
	if b, ok := m.other.(Bounded); ok {
		return b.Bound(count)
	}
	return nil
}

// Mine implements Miner.
func (m *Labels) Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (Stats, error) {
	out.Triplets, out.Pairs, out.Labels = out.Triplets[:0], out.Pairs[:0], out.Labels[:0]
	var s Stats
	if m.other != nil {
		var err error
		if s, err = m.other.Mine(z, labels, r, out); err != nil {
			return s, err
		}
	}
	if len(z.Shape) != 2 {
		return Stats{}, fmt.Errorf("mine: %w", z.SameShape("embeddings", -1, -1))
	}
	if len(labels) != z.Shape[0] {
		return Stats{}, fmt.Errorf("mine: %d labels for %d embeddings", len(labels), z.Shape[0])
	}
	for i, y := range labels {
		if y < 0 || int(y) >= len(m.of) || m.of[y] < 0 {
			return Stats{}, fmt.Errorf("mine: row %d of the batch has label %d, which no training image has", i, y)
		}
		out.Labels = append(out.Labels, m.of[y])
	}
	return s, nil
}
