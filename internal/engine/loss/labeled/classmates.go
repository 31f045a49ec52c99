package labeled

import (
	"cmp"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

// classMates are the rows of a batch by their classes. Scratch grows to the largest batch
// seen and is then reused.
type classMates struct {
	order  []int32         // rows by class, those of a class in their order
	starts map[int32]int32 // where a class begins in order
	sizes  map[int32]int32
	labels []int32
}

// group sorts the rows of a batch, and returns the number of its classes.
func (m *classMates) group(labels []int32) int {
	if m.starts == nil {
		m.starts, m.sizes = map[int32]int32{}, map[int32]int32{}
	}
	clear(m.starts)
	clear(m.sizes)
	m.labels = labels
	m.order = loss.Grow(m.order, len(labels))
	for i := range m.order {
		m.order[i] = int32(i)
	}
	slices.SortStableFunc(m.order, func(i, j int32) int { return cmp.Compare(labels[i], labels[j]) })
	for k, i := range m.order {
		y := labels[i]
		if m.sizes[y]++; m.sizes[y] == 1 {
			m.starts[y] = int32(k)
		}
	}
	return len(m.starts)
}

// of returns the rows of class y, in their order.
func (m *classMates) of(y int32) []int32 {
	at := m.starts[y]
	return m.order[at:][:m.sizes[y]]
}

// apartRow adds 1 - cos of all rows but i; mates are the rows of its class.
func (t *rowTerm) apartRow(cos []float32, mates []int32, i int) {
	all, mine := kernel.Sum(cos), 0.0
	for _, j := range mates {
		mine += float64(cos[j])
	}
	t.positives += len(mates) - 1
	t.positive += float64(len(mates)-1) - (mine - float64(cos[i]))
	t.others += len(cos) - len(mates)
	t.negative += float64(len(cos)-len(mates)) - (all - mine)
}
