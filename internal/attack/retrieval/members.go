package retrieval

import (
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// Members lists the items of each label, group by group.
type Members struct {
	Of    []int32         // (N) group of the item
	Items []int32         // (N) group by group, each in ascending order
	Start []int32         // (groups + 1) where each begins
	Group map[int32]int32 // of a label
}

// NewMembers returns the groups of labels (N), in the order in which they first occur.
func NewMembers(labels []int32) *Members {
	group := map[int32]int32{}
	m := &Members{Group: group, Of: make([]int32, len(labels)), Items: make([]int32, len(labels))}
	size := []int32{}
	for j, l := range labels {
		k, known := group[l]
		if !known {
			k = int32(len(size))
			group[l], size = k, append(size, 0)
		}
		m.Of[j] = k
		size[k]++
	}
	m.Start = append(m.Start, 0)
	for k, n := range size {
		m.Start = append(m.Start, m.Start[k]+n)
	}
	next := slices.Clone(m.Start)
	for j, k := range m.Of {
		m.Items[next[k]] = int32(j)
		next[k]++
	}
	return m
}

// Groups returns the number of labels.
func (m *Members) Groups() int { return len(m.Start) - 1 }

// With returns the items that have the label of item j, itself included.
func (m *Members) With(j int) []int32 {
	k := m.Of[j]
	return m.Items[m.Start[k]:m.Start[k+1]]
}

// Labeled returns the items of a label, none where the gallery has it not.
func (m *Members) Labeled(label int32) []int32 {
	k, there := m.Group[label]
	if !there {
		return nil
	}
	return m.Items[m.Start[k]:m.Start[k+1]]
}

// compared reports whether row j counts for query i.
func (r *Rivals) compared(i int, j int32) bool {
	_, hidden := slices.BinarySearch(r.hidden[i], j)
	return !hidden && (r.left == nil || !r.left[j])
}

// labelTrail is a trail of the rows of one label.
type labelTrail struct {
	trail
	label int32
}

// Labeled returns the row of a label that is nearest to the embedding z of query i, and
// whether there is one. Like Find, it follows an embedding that moves a little.
func (r *Rivals) Labeled(i int, z []float32, label int32) (best Neighbor, found bool) {
	t := &r.labeled[i]
	if t.label != label {
		t.label = label
		t.forget()
	}
	if len(t.at) > 0 && t.measured <= outworn {
		best, measured := t.near[0].nearest(r.g, z, math.Sqrt(kernel.SquaredDistanceLanes(z, t.at)))
		if measured > 0 {
			t.decided(measured)
			return best, true
		}
	}
	rows := r.of.Labeled(label)
	for _, j := range rows {
		if !r.compared(i, j) {
			continue
		}
		if n := (Neighbor{j, r.g.Squared(z, int(j))}); !found || n.Compare(best) < 0 {
			best, found = n, true
		}
	}
	if found && t.due(z) {
		l := &t.near[0]
		l.first, l.rows, l.reach = best.Row, l.rows[:0], furthest
		for _, j := range rows {
			if r.compared(i, j) {
				l.consider(r.g, z, best, j)
			}
		}
		slices.SortFunc(l.rows, Neighbor.Compare)
	}
	return best, found
}

// Ahead counts the rows of query i's label that come before a row, for the embedding z.
func (r *Rivals) Ahead(i int, z []float32, before Neighbor) (count int) {
	for _, j := range r.same[i] {
		if r.compared(i, j) && (Neighbor{j, r.g.Squared(z, int(j))}).Compare(before) < 0 {
			count++
		}
	}
	return count
}
