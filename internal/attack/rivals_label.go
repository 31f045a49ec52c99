package attack

import "slices"

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
