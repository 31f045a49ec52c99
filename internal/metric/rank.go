package metric

import (
	"math"
	"math/bits"
	"slices"
)

// rowScratch works on one query's row of keys. No row is ever sorted: all scores
// follow from the ranks of the relevant items, and those from counting, for each
// relevant item, the items before it.
type rowScratch struct {
	cut   []uint64 // relevant items' codes, ascending
	ranks []int32  // number of items before each, the query's self included
	twice []int32  // for each, twice the irrelevant items with smaller keys and once those with its key
	count []int32  // items between two relevant ones
	first []int32  // interval of keys -> its first relevant item
	top   []uint64
	own   []float32 // keys of the relevant items
	pair  []int32   // counts of cuts, two for each
	table table
	tied  ties
	kept  []int32 // relevant items that are not excluded
}

// code orders items by key, then by index: smaller comes first.
func code(key float32, index int) uint64 {
	b := math.Float32bits(key + 0) // -0 becomes 0
	return uint64(b^(uint32(int32(b)>>31)|1<<31))<<32 | uint64(index)
}

// few is the number of relevant items up to which rankFew is faster.
const few = 6

// rank fills cut and ranks for the relevant items of a row.
func (w *rowScratch) rank(keys []float32, relevant []int32) {
	w.cut = slices.Grow(w.cut[:0], len(relevant))[:len(relevant)]
	w.ranks = slices.Grow(w.ranks[:0], len(relevant))[:len(relevant)]
	w.tied.reset(len(relevant))
	if len(relevant) <= few {
		for p, j := range relevant {
			w.cut[p] = code(keys[j], int(j))
		}
		slices.Sort(w.cut)
		w.rankFew(keys)
	} else {
		w.rankMany(keys, relevant)
	}
	w.countIrrelevant()
}

// rankFew compares every item with every relevant one, of which there are at
// most few, in one pass almost without branches.
func (w *rowScratch) rankFew(keys []float32) {
	var c [few]uint64
	copy(c[:], w.cut)
	c0, c1, c2, c3, c4, c5 := c[0], c[1], c[2], c[3], c[4], c[5]
	var n0, n1, n2, n3, n4, n5, below uint64
	var seen keySet
	for _, v := range w.cut {
		seen.add(v)
	}
	for j, k := range keys {
		v := code(k, j)
		if seen.has(v) {
			w.meet(v)
		}
		_, below = bits.Sub64(v, c0, 0)
		n0 += below
		_, below = bits.Sub64(v, c1, 0)
		n1 += below
		_, below = bits.Sub64(v, c2, 0)
		n2 += below
		_, below = bits.Sub64(v, c3, 0)
		n3 += below
		_, below = bits.Sub64(v, c4, 0)
		n4 += below
		_, below = bits.Sub64(v, c5, 0)
		n5 += below
	}
	counts := [few]uint64{n0, n1, n2, n3, n4, n5}
	for p, n := range counts[:len(w.cut)] {
		w.ranks[p] = int32(n)
	}
}

// table splits the range of the relevant keys into equal intervals. The interval
// of a key is a monotone function of it: relevant items of earlier intervals are
// before an item, and none of later ones.
type table struct{ low, scale, last float32 }

func newTable(low, high float32, intervals int) table {
	last := float32(intervals - 1)
	t := table{low, last / (high - low), last}
	if !(t.scale <= math.MaxFloat32) { // equal or almost equal keys: one interval
		t.scale = 0
	}
	return t
}

// of returns the interval of a key, the first or the last for keys outside.
func (t table) of(key float32) int {
	return int(max(0, min((key-t.low)*t.scale, t.last)))
}

// rankMany sorts the relevant items by interval, finds for each item the first
// relevant one not before it, and sums the counts up.
func (w *rowScratch) rankMany(keys []float32, relevant []int32) {
	w.own = slices.Grow(w.own[:0], len(relevant))
	for _, j := range relevant {
		w.own = append(w.own, keys[j])
	}
	w.setCuts(w.own, relevant)
	w.countKeys(keys, 0)
	w.sumCounts()
}

// setCuts prepares to count keys between those of the relevant items.
func (w *rowScratch) setCuts(own []float32, relevant []int32) {
	intervals := min(4*len(relevant), 1<<16)
	w.table = newTable(slices.Min(own), slices.Max(own), intervals)
	w.cut = slices.Grow(w.cut[:0], len(relevant)+1)[:len(relevant)]
	w.sortByInterval(own, relevant, w.table, intervals)
	w.count = slices.Grow(w.count[:0], len(relevant)+1)[:len(relevant)+1]
	clear(w.count)
}

// countKeys counts the keys of items from first on.
func (w *rowScratch) countKeys(keys []float32, first int) {
	// Most intervals hold no relevant item or one: that case has no branches.
	cut, count, t := append(w.cut, math.MaxUint64), w.count, w.table
	for j, k := range keys {
		v, b := code(k, first+j), t.of(k)
		p, end := w.first[b], w.first[b+1]
		if end-p > 1 {
			for p < end-1 && cut[p] < v {
				if m := (p + end) / 2; cut[m-1] < v {
					p = m
				} else {
					end = m
				}
			}
		}
		_, after := bits.Sub64(cut[p], v, 0)
		p += int32(after) & (end - p)
		count[p]++
		if (cut[p]^v)>>32*((cut[max(p-1, 0)]^v)>>32) == 0 { // the key of either
			w.tied.meet(cut, v, int(p))
		}
	}
}

// sumCounts turns counts into ranks: the items before each relevant one.
func (w *rowScratch) sumCounts() {
	w.ranks = slices.Grow(w.ranks[:0], len(w.cut))[:len(w.cut)]
	sum := int32(-1) // each relevant item counted itself
	for p := range w.ranks {
		sum += w.count[p]
		w.ranks[p] = sum
	}
}

// sortByInterval fills cut, ascending, and first: the relevant items of interval
// b are cut[first[b]:first[b+1]].
func (w *rowScratch) sortByInterval(own []float32, relevant []int32, t table, intervals int) {
	w.first = slices.Grow(w.first[:0], intervals+2)[:intervals+2]
	clear(w.first)
	for _, k := range own {
		w.first[t.of(k)+2]++
	}
	for b := 1; b < len(w.first); b++ {
		w.first[b] += w.first[b-1]
	}
	for i, j := range relevant { // first[b+1] goes from the start of b to its end
		at := &w.first[t.of(own[i])+1]
		w.cut[*at] = code(own[i], int(j))
		*at++
	}
	for b := range intervals {
		if from, to := w.first[b], w.first[b+1]; to-from > 1 {
			slices.Sort(w.cut[from:to])
		}
	}
}

// score writes the query's values in the order of retrievalScores. self is the
// query's own gallery index, or -1, of the gallery's ng items.
func (w *rowScratch) score(ks []int, self int32, ng int, out []float64) {
	a := tally{}
	masked := int32(0) // 1 once the query's self was passed
	wrong := 0.0       // triplets, twice
	for p, r := range w.ranks {
		if int32(uint32(w.cut[p])) == self {
			masked = 1
			continue
		}
		a.add(r - masked)
		wrong += float64(w.twice[p])
	}
	relevant := len(w.ranks) - int(masked)
	i := 0
	put := func(v float64) { out[i] = v; i++ }
	for _, k := range ks {
		put(a.recall(k))
	}
	put(a.precisions / float64(relevant))
	var hits, sum float64
	masked = 0
	for p, r := range w.ranks {
		if int32(uint32(w.cut[p])) == self {
			masked = 1
			continue
		}
		if r -= masked; int(r) >= relevant {
			break
		}
		hits++
		sum += hits / float64(r+1)
	}
	put(sum / float64(relevant))
	put(hits / float64(relevant))
	put(1 / float64(a.first+1))
	put(a.within10 / 10)
	if negatives := ng - len(w.ranks); negatives > 0 {
		wrong /= 2 * float64(relevant) * float64(negatives)
	}
	put(wrong)
	if self < 0 {
		return
	}
	b := tally{}
	for _, r := range w.ranks {
		if r > 0 {
			b.add(r - 1)
		}
	}
	for _, k := range ks {
		put(b.recall(k))
	}
	put(b.precisions / b.hits)
	put(b.within10 / 10)
}

// tally adds up relevant items in ascending order of 0-based rank.
type tally struct {
	hits       float64
	first      int32   // rank of the first
	precisions float64 // sum of the precisions at each
	within10   float64 // the same over the first 10 ranks
}

func (t *tally) add(rank int32) {
	if t.hits == 0 {
		t.first = rank
	}
	t.hits++
	p := t.hits / float64(rank+1)
	t.precisions += p
	if rank < 10 {
		t.within10 += p
	}
}

func (t *tally) recall(k int) float64 {
	if t.hits > 0 && int(t.first) < k {
		return 1
	}
	return 0
}

// nearest writes the first len(out) items of the ranking, self and excluded ones left
// out; -1 where there are fewer.
func (w *rowScratch) nearest(keys []float32, self int32, out []int32) {
	n := len(out)
	w.top = slices.Grow(w.top[:0], n+1)
	for j, k := range keys {
		v := code(k, j)
		if len(w.top) == n && v > w.top[n-1] || int32(j) == self || k == farKey {
			continue
		}
		i := len(w.top)
		w.top = append(w.top, v)
		for ; i > 0 && w.top[i-1] > v; i-- {
			w.top[i] = w.top[i-1]
		}
		w.top[i] = v
		w.top = w.top[:min(len(w.top), n)]
	}
	for i := range out {
		out[i] = -1
		if i < len(w.top) {
			out[i] = int32(uint32(w.top[i]))
		}
	}
}
