package noise

import (
	"cmp"
	"slices"
)

// wrongPairs returns the effective noise of labels seen against the truth: half the
// share of wrong pairs among those of two items of one seen class, half that among
// those of two classes. The first item of a pair is any item, the second any other of
// its seen class, or any of a random other seen class. Classes that are too small for a
// pair are left out; without pairs the answer is 0.
func wrongPairs(truth, seen []int32) float64 {
	cells := tally(truth, seen)
	var similar, similarWrong, different, right float64
	// The share of each true class within the seen classes, summed over these.
	share := map[int32]float64{}
	sizes := map[int32]float64{}
	for _, c := range cells {
		sizes[c.seen] += c.n
	}
	for _, c := range cells {
		share[c.truth] += c.n / sizes[c.seen]
	}
	for _, c := range cells {
		m := sizes[c.seen]
		if m > 1 {
			similar += c.n
			similarWrong += c.n * (m - c.n) / (m - 1)
		}
		if len(sizes) > 1 {
			different += c.n
			right += float64(c.n * (1 - (share[c.truth]-c.n/m)/float64(len(sizes)-1)))
		}
	}
	p := 0.0
	if similar > 0 {
		p += float64(similarWrong / similar / 2)
	}
	if different > 0 {
		p += float64((1 - right/different) / 2)
	}
	return max(0, p)
}

// cell is the number of items of one true and one seen class.
type cell struct {
	truth, seen int32
	n           float64
}

// tally counts the items of each true and seen class, in a fixed order.
func tally(truth, seen []int32) []cell {
	type pair struct{ truth, seen int32 }
	all := make([]pair, len(truth))
	for i := range truth {
		all[i] = pair{truth[i], seen[i]}
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.seen, b.seen), cmp.Compare(a.truth, b.truth))
	})
	var out []cell
	for i, p := range all {
		if i == 0 || p != all[i-1] {
			out = append(out, cell{p.truth, p.seen, 0})
		}
		out[len(out)-1].n++
	}
	return out
}

// expectedWrongPairs is wrongPairs as it is expected of many items of which a share
// prior[t] is of class t. row puts the classes that an item of class t may become, with
// their probabilities.
func expectedWrongPairs(prior []float64, row func(t int, put func(c int, p float64))) float64 {
	size, share := make([]float64, len(prior)), make([]float64, len(prior))
	each := func(f func(t, c int, n float64)) {
		for t, p := range prior {
			row(t, func(c int, q float64) {
				if p*q > 0 {
					f(t, c, p*q)
				}
			})
		}
	}
	each(func(_, c int, n float64) { size[c] += n })
	seen := 0.0 // classes with items
	for _, s := range size {
		if s > 0 {
			seen++
		}
	}
	each(func(t, c int, n float64) { share[t] += n / size[c] })
	wrong := 0.0
	each(func(t, c int, n float64) {
		within := n / size[c]
		wrong += float64(n * (1 - within) / 2)
		if seen > 1 {
			wrong += float64(n * (share[t] - within) / (seen - 1) / 2)
		}
	})
	return wrong
}
