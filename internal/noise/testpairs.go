package noise

import (
	"fmt"
	"sort"

	"tercet/internal/data/batch"
	"tercet/internal/rng"
)

// TestPairs returns n pairs for evaluation, by labels from 0 to classes-1: n/2 similar ones
// and n/2 different ones, in turn, each half uniform over all such couples of items and
// without repeats as long as there are enough; when there are not, each couple comes
// equally often but for one. An odd n, and labels that give no similar or no different
// couple, are errors.
func TestPairs(labels []int32, classes, n int, seed uint64) ([]batch.Pair, error) {
	if n < 2 || n%2 != 0 {
		return nil, fmt.Errorf("noise: test pairs: %d pairs; want an even number, 2 or more: half of them are similar", n)
	}
	if err := checkLabels("test pairs", labels, classes); err != nil {
		return nil, err
	}
	members := byClass(labels, nil, classes)
	// Couples are numbered class by class: similar[c] and different[c] are those before
	// class c, different ones counted at their item of the lower class.
	similar, different := make([]int, classes+1), make([]int, classes+1)
	later := len(labels)
	for c, m := range members {
		later -= len(m)
		similar[c+1] = similar[c] + len(m)*(len(m)-1)/2
		different[c+1] = different[c] + len(m)*later
	}
	if similar[classes] == 0 {
		return nil, fmt.Errorf("noise: test pairs: no class has two of the %d items: there is no similar pair", len(labels))
	}
	if different[classes] == 0 {
		return nil, fmt.Errorf("noise: test pairs: all %d items are of one class: there is no different pair", len(labels))
	}
	var items []int32 // by class
	for _, m := range members {
		items = append(items, m...)
	}
	s := rng.New(seed, "noise/test-pairs")
	a, b := ranks(similar[classes], n/2, s), ranks(different[classes], n/2, s)
	pairs := make([]batch.Pair, 0, n)
	end := make([]int, classes) // of each class in items
	for c, m := range members {
		if end[c] = len(m); c > 0 {
			end[c] += end[c-1]
		}
	}
	for k := range a {
		c := classAt(similar, a[k])
		i, j := couple(a[k] - similar[c])
		d := classAt(different, b[k])
		rest := len(items) - end[d]
		r := b[k] - different[d]
		pairs = append(pairs,
			batch.Pair{I: members[c][i], J: members[c][j], Similar: true},
			batch.Pair{I: members[d][r/rest], J: items[end[d]+r%rest]})
	}
	return pairs, nil
}

// classAt returns the class whose couples hold number r; before[c] are those before
// class c.
func classAt(before []int, r int) int {
	return sort.SearchInts(before, r+1) - 1
}

// couple returns the r-th of (1, 0), (2, 0), (2, 1), (3, 0), ...
func couple(r int) (i, j int) {
	i = sort.Search(r+2, func(i int) bool { return i*(i+1)/2 > r })
	return i, r - i*(i-1)/2
}

// ranks returns n random numbers from 0 to total-1 in random order, each as often as any
// other but for one.
func ranks(total, n int, s *rng.Stream) []int {
	out := make([]int, 0, n)
	for len(out)+total <= n {
		for r := range total {
			out = append(out, r)
		}
	}
	// Floyd's sampling of the rest (Bentley & Floyd 1987).
	want := n - len(out)
	taken := make(map[int]bool, want)
	for r := total - want; r < total; r++ {
		v := s.IntN(r + 1)
		if taken[v] {
			v = r
		}
		taken[v] = true
		out = append(out, v)
	}
	s.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
