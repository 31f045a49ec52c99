package attack

import "slices"

// members lists the items of each label of a gallery.
type members struct {
	of    []int32         // (N) group of the item
	items []int32         // (N) group by group, each in ascending order
	start []int32         // (groups + 1) where each begins
	group map[int32]int32 // of a label
}

func newMembers(labels []int32) *members {
	group := map[int32]int32{}
	m := &members{group: group, of: make([]int32, len(labels)), items: make([]int32, len(labels))}
	size := []int32{}
	for j, l := range labels {
		k, known := group[l]
		if !known {
			k = int32(len(size))
			group[l], size = k, append(size, 0)
		}
		m.of[j] = k
		size[k]++
	}
	m.start = append(m.start, 0)
	for k, n := range size {
		m.start = append(m.start, m.start[k]+n)
	}
	next := slices.Clone(m.start)
	for j, k := range m.of {
		m.items[next[k]] = int32(j)
		next[k]++
	}
	return m
}

// groups returns the number of labels.
func (m *members) groups() int { return len(m.start) - 1 }

// with returns the items that have the label of item j, itself included.
func (m *members) with(j int) []int32 {
	k := m.of[j]
	return m.items[m.start[k]:m.start[k+1]]
}

// labeled returns the items of a label, none where the gallery has it not.
func (m *members) labeled(label int32) []int32 {
	k, there := m.group[label]
	if !there {
		return nil
	}
	return m.items[m.start[k]:m.start[k+1]]
}

// newMembersOfMany is newMembers for attacks that need items of another label.
func newMembersOfMany(name string, g *Gallery) (*members, error) {
	m := newMembers(g.Labels)
	if m.groups() < 2 {
		return nil, unfitf("attack %s: all %d images of the gallery have label %d; it needs items of another label", name, g.Len(), g.Labels[0])
	}
	return m, nil
}

// compared reports whether row j counts for query i.
func (r *Rivals) compared(i int, j int32) bool {
	_, hidden := slices.BinarySearch(r.hidden[i], j)
	return !hidden && (r.left == nil || !r.left[j])
}

// Labeled returns the row of a label that is nearest to the embedding z of query i, and
// whether there is one.
func (r *Rivals) Labeled(i int, z []float32, label int32) (best Neighbor, found bool) {
	for _, j := range r.of.labeled(label) {
		if !r.compared(i, j) {
			continue
		}
		if n := (Neighbor{j, r.g.squared(z, int(j))}); !found || n.Compare(best) < 0 {
			best, found = n, true
		}
	}
	return best, found
}

// Ahead counts the rows of query i's label that come before a row, for the embedding z.
func (r *Rivals) Ahead(i int, z []float32, before Neighbor) (count int) {
	for _, j := range r.same[i] {
		if r.compared(i, j) && (Neighbor{j, r.g.squared(z, int(j))}).Compare(before) < 0 {
			count++
		}
	}
	return count
}
