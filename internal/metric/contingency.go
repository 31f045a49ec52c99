package metric

import (
	"fmt"
	"math"
	"slices"
)

// contingency counts items by true class and by cluster, without empty cells.
type contingency struct {
	n        int
	class    []int64 // items of each class
	cluster  []int64 // items of each cluster
	cells    []cell  // ascending by class, then cluster
	rowStart []int   // cells of class c are cells[rowStart[c]:rowStart[c+1]]
}

type cell struct {
	class, cluster int32
	count          int64
}

func newContingency(truth, pred []int32) (*contingency, error) {
	switch {
	case len(truth) != len(pred):
		return nil, fmt.Errorf("%w: %d true labels but %d cluster labels", ErrInput, len(truth), len(pred))
	case len(truth) == 0:
		return nil, fmt.Errorf("%w: no labels", ErrInput)
	case len(truth) > math.MaxInt32:
		return nil, fmt.Errorf("%w: %d labels are more than %d", ErrInput, len(truth), math.MaxInt32)
	}
	a, b := classesOf(truth), classesOf(pred)
	t := &contingency{n: len(truth), class: sizes(a), cluster: sizes(b), rowStart: make([]int, len(a.size)+1)}
	pair := make([]uint64, len(truth))
	for i, c := range a.of {
		pair[i] = uint64(c)<<32 | uint64(b.of[i])
	}
	slices.Sort(pair)
	for i, p := range pair {
		if i == 0 || p != pair[i-1] {
			t.cells = append(t.cells, cell{class: int32(p >> 32), cluster: int32(uint32(p))})
			t.rowStart[p>>32+1]++
		}
		t.cells[len(t.cells)-1].count++
	}
	for c := range a.size {
		t.rowStart[c+1] += t.rowStart[c]
	}
	return t, nil
}

func sizes(c classes) []int64 {
	s := make([]int64, len(c.size))
	for i, v := range c.size {
		s[i] = int64(v)
	}
	return s
}
