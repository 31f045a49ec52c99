package metric

import (
	"fmt"
	"math"
	"slices"
)

// Exclusion says which items of a separate gallery do not count for a query: they are
// neither found nor in the way of others. They are the query itself, and the items of its
// group, such as the pictures of one sequence.
type Exclusion struct {
	// Own is each query's place in the gallery, -1 where it is not there; nil for none.
	Own []int32
	// Query and Gallery are the groups of all items, below 0 for none; nil for no groups.
	Query, Gallery []int32
}

// farKey is above all keys of items that count, and so far from the largest number that
// the difference from any of them is finite.
const farKey = 0x1p127

// exclusion finds a query's excluded items. A nil one excludes nothing.
type exclusion struct {
	own   []int32
	group []int32
	items map[int32][]int32 // gallery items of each group, ascending
}

// index prepares e for n queries and ng gallery items.
func (e *Exclusion) index(n, ng int, self bool) (*exclusion, error) {
	if e == nil || e.Own == nil && e.Query == nil && e.Gallery == nil {
		return nil, nil
	}
	switch {
	case self:
		return nil, fmt.Errorf("%w: items are excluded of a separate gallery only", ErrInput)
	case e.Own != nil && len(e.Own) != n, (e.Query == nil) != (e.Gallery == nil),
		e.Query != nil && (len(e.Query) != n || len(e.Gallery) != ng):
		return nil, fmt.Errorf("%w: excluded items do not fit %d queries and %d gallery items", ErrInput, n, ng)
	}
	for q, j := range e.Own {
		if int(j) >= ng {
			return nil, fmt.Errorf("%w: query %d is item %d of a gallery of %d", ErrInput, q, j, ng)
		}
	}
	out := &exclusion{own: e.Own, group: e.Query, items: map[int32][]int32{}}
	for j, k := range e.Gallery {
		if k >= 0 {
			out.items[k] = append(out.items[k], int32(j))
		}
	}
	return out, nil
}

// of are the gallery items that do not count for query q, ascending. The caller must not
// change them.
func (e *exclusion) of(q int) []int32 {
	if e == nil {
		return nil
	}
	var out []int32
	if e.group != nil && e.group[q] >= 0 {
		out = e.items[e.group[q]]
	}
	if e.own == nil || e.own[q] < 0 {
		return out
	}
	at, in := slices.BinarySearch(out, e.own[q])
	if in {
		return out
	}
	return slices.Insert(slices.Clone(out), at, e.own[q])
}

// relevant counts the excluded items of class k.
func (e *exclusion) relevant(q int, class []int32, k int32) int {
	n := 0
	for _, j := range e.of(q) {
		if class[j] == k {
			n++
		}
	}
	return n
}

// exclude puts the keys of the items left, ascending, behind all others, and returns the
// relevant ones, ascending, that are not among them.
func (w *rowScratch) exclude(keys []float32, relevant, left []int32) []int32 {
	for _, j := range left {
		keys[j] = farKey
	}
	w.kept = w.kept[:0]
	for _, j := range relevant {
		for len(left) > 0 && left[0] < j {
			left = left[1:]
		}
		if len(left) == 0 || left[0] != j {
			w.kept = append(w.kept, j)
		}
	}
	return w.kept
}

// most is the largest number of items that one of n queries excludes.
func (e *exclusion) most(n int) int {
	most := 0
	if e != nil {
		for q := range n {
			most = max(most, len(e.of(q)))
		}
	}
	return most
}

// without is t with the first k items of each query that are not excluded.
func (t *NeighborTable) without(e *exclusion, k int) *NeighborTable {
	if e == nil {
		return t
	}
	n := len(t.Index) / t.K
	out := &NeighborTable{k, make([]int32, n*k), make([]float64, n*k)}
	for q := range n {
		left, at := e.of(q), q*k
		for i := q * t.K; i < (q+1)*t.K && at < (q+1)*k; i++ {
			if _, in := slices.BinarySearch(left, t.Index[i]); !in {
				out.Index[at], out.Distance[at] = t.Index[i], t.Distance[i]
				at++
			}
		}
		for ; at < (q+1)*k; at++ {
			out.Index[at], out.Distance[at] = -1, math.Inf(1)
		}
	}
	return out
}
