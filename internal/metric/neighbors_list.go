package metric

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// lists holds, for each query, the items that may be among its nearest.
type lists struct {
	s     *nearest
	size  int         // entries of a list
	entry []listEntry // (queries, size)
	count []int32     // entries in use
	limit []float32   // half the key above which no item can be among the nearest, with the query's part of the error; -Inf beyond the last query
	key   []float32   // that key itself
	// last is the largest index among k items at distance 0: no later one counts.
	last    []int32
	scratch par.Free[listScratch]
}

// listEntry is an item with a lower bound of its key.
type listEntry struct {
	low  float32
	item int32
}

type listScratch struct {
	high  []float64
	exact []exactEntry
}

type exactEntry struct {
	square float64
	item   int32
}

func (l *lists) init(s *nearest, queries int) {
	l.s, l.size = s, s.k+max(21, s.k/4)
	l.entry = make([]listEntry, queries*l.size)
	l.count = make([]int32, queries)
	l.limit = make([]float32, queries+blockCols)
	l.key = make([]float32, queries)
	l.last = make([]int32, queries)
	for i := range l.limit {
		l.limit[i] = float32(math.Inf(-1))
		if i < queries {
			l.limit[i], l.key[i], l.last[i] = float32(math.Inf(1)), float32(math.Inf(1)), math.MaxInt32
		}
	}
}

// offer adds an item to a query's list unless it is known to be too far.
func (l *lists) offer(query, item int, dot float32) {
	c := l.s.cols.square[item]
	low := float32(c - float64(2*float64(dot)) - float64(l.s.unit*(l.s.rows.square[query]+c)) - least)
	if low > l.key[query] || int32(item) > l.last[query] {
		return
	}
	n := int(l.count[query])
	l.entry[query*l.size+n] = listEntry{low, int32(item)}
	l.count[query]++
	if n++; n < l.size {
		return
	}
	w := l.scratch.Get()
	l.tighten(query, w)
	if n = int(l.count[query]); n > l.s.k+3*(l.size-l.s.k)/4 {
		l.settle(query, w)
	}
	l.scratch.Put(w)
}

// tighten finds the k-th smallest upper bound of the keys and drops the items
// whose lower bound is above it.
func (l *lists) tighten(query int, w *listScratch) {
	s := l.s
	list := l.entry[query*l.size:][:l.count[query]]
	own := s.rows.square[query]
	w.high = w.high[:0]
	for _, e := range list {
		w.high = append(w.high, float64(e.low)+float64(2*s.unit*(own+s.cols.square[e.item]))+2*least)
	}
	l.lower(query, kthSmallest(w.high, s.k))
	l.drop(query)
}

// lower makes key the limit of a query if it is below the present one.
func (l *lists) lower(query int, key float64) {
	key += float64(8 * 0x1p-24 * math.Abs(key))
	if float32(key) >= l.key[query] {
		return
	}
	l.key[query] = float32(key)
	l.limit[query] = float32((key + float64(8*0x1p-24*math.Abs(key)) + float64(l.s.unit*l.s.rows.square[query]) + least) / 2)
}

func (l *lists) drop(query int) {
	list := l.entry[query*l.size:][:l.count[query]]
	n := 0
	for _, e := range list {
		if e.low <= l.key[query] {
			list[n] = e
			n++
		}
	}
	l.count[query] = int32(n)
}

// settle measures a list that bounds alone do not shorten, and keeps the k
// nearest.
func (l *lists) settle(query int, w *listScratch) {
	l.measure(query, w)
	list := l.entry[query*l.size:][:l.s.k]
	own := l.s.rows.square[query]
	for i, e := range w.exact[:l.s.k] {
		list[i] = listEntry{float32(float64(e.square*l.s.scale) - own - float64(l.s.unit*(own+l.s.cols.square[e.item]))), e.item}
	}
	l.count[query] = int32(l.s.k)
	furthest := w.exact[l.s.k-1]
	l.lower(query, float64(furthest.square*l.s.scale)-own+float64(slack*own)+least)
	if furthest.square == 0 {
		l.last[query] = furthest.item
	}
}

// measure fills w.exact with the list's items, nearest first.
func (l *lists) measure(query int, w *listScratch) {
	d := l.s.sweep.d
	q := l.s.x[query*d : (query+1)*d]
	w.exact = w.exact[:0]
	for _, e := range l.entry[query*l.size:][:l.count[query]] {
		w.exact = append(w.exact, exactEntry{kernel.SquaredDistanceLanes(q, l.s.g[int(e.item)*d:(int(e.item)+1)*d]), e.item})
	}
	slices.SortFunc(w.exact, func(a, b exactEntry) int {
		return cmp.Or(cmp.Compare(a.square, b.square), cmp.Compare(a.item, b.item))
	})
}

// table measures what is left of all lists and keeps the k nearest of each.
func (s *nearest) table() *NeighborTable {
	n, k := len(s.lists.count), s.k
	t := &NeighborTable{k, make([]int32, n*k), make([]float64, n*k)}
	par.For(n, 64, func(lo, hi int) {
		w := s.lists.scratch.Get()
		for q := lo; q < hi; q++ {
			s.lists.tighten(q, w)
			s.lists.measure(q, w)
			for i, e := range w.exact[:k] {
				t.Index[q*k+i], t.Distance[q*k+i] = e.item, math.Sqrt(e.square)
			}
		}
		s.lists.scratch.Put(w)
	})
	return t
}
