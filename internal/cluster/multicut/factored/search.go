package factored

import (
	"context"
	"math"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	maxCols = 128  // items whose scores are formed at a time, as columns
	rows    = 512  // items of a task
	maxTile = 1024 // clusters at a time: their scores fit the cache
)

// search finds for many items, nodes or whole clusters, the cluster that
// each had best join. With u = (S, n t - Q, -n) of an item and v = (2 S, n, Q) of a
// cluster, both (d+2), the cost between them is u.v: all costs of a block of items
// are one product of matrices in float32. Its results are proposals; what is done
// with them is decided in float64.
type search struct {
	s     *state
	k     int       // clusters
	terms []float32 // (k, d+2) the v of each cluster

	// One of the two:
	nodes    []int32 // items are these nodes
	clusters []int32 // items are these clusters

	among  []int32 // where not nil, the numbers of the k clusters
	groups *probe  // where not all clusters are looked at

	best  []int32   // of each item: the other cluster of the highest score, -1 for none
	score []float32 // its score
	own   []float32 // of each item: the score with its own cluster

	scratches par.Free[scratch]
}

type scratch struct {
	items        []float32 // (rows, d+2)
	packed       kernel.PackedRows
	keys         []float32 // (maxTile, maxCols)
	zero         []float32 // (maxTile)
	old, index   []int32
	value        []float32
	moved        []uint64
	best         []int32
	least, owned []float32
}

// prepare forms the terms of all clusters.
func (q *search) prepare(s *state) {
	d := s.f.d
	q.s, q.k = s, len(s.size)
	q.terms = sized(q.terms, q.k*(d+2))
	par.Each(q.k, 64, func(c int) {
		v := q.terms[c*(d+2) : (c+1)*(d+2)]
		for j, e := range s.of(int32(c)) {
			v[j] = float32(2 * e)
		}
		v[d], v[d+1] = float32(s.size[c]), float32(s.square[c])
	})
}

// sized returns n numbers of no particular value, in the memory of old where
// that is enough.
func sized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n, n+n/8)
	}
	return old[:n]
}

// run searches for items, nodes or clusters of the state as it was at prepare.
func (q *search) run(ctx context.Context, nodes, clusters []int32) error {
	q.nodes, q.clusters = nodes, clusters
	items := len(nodes) + len(clusters)
	q.best = sized(q.best, items)
	q.score = sized(q.score, items)
	q.own = sized(q.own, items)
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.among == nil && float64(items)*float64(q.k)*float64(q.s.f.d) > exact {
		return q.probe(ctx)
	}
	par.Do((items+rows-1)/rows, 1, q)
	return ctx.Err()
}

// runSome searches for nodes among some clusters alone, of which none is their own.
func (q *search) runSome(ctx context.Context, s *state, nodes, among []int32) error {
	q.prepare(s)
	wide := s.f.d + 2
	for i, c := range among { // they ascend
		copy(q.terms[i*wide:(i+1)*wide], q.terms[int(c)*wide:(int(c)+1)*wide])
	}
	q.among, q.k = among, len(among)
	err := q.run(ctx, nodes, nil)
	q.among = nil
	return err
}

// Run does tasks [lo, hi), each rows items with all clusters.
func (q *search) Run(lo, hi int) {
	w := q.scratches.Get()
	items := len(q.best)
	for t := lo; t < hi; t++ {
		first, end := t*rows, min((t+1)*rows, items)
		q.gather(w, first, end, nil)
		q.begin(w)
		if q.among != nil {
			for i := range w.old {
				w.old[i] = -1
			}
		}
		q.compare(w, end-first, q.terms, q.among, 0, q.k)
		q.finish(w, first, end, nil)
	}
	q.scratches.Put(w)
}

// gather packs the u of items [lo, hi), or of those that order has there.
func (q *search) gather(w *scratch, lo, hi int, order []int32) {
	f := q.s.f
	d := f.d
	w.items = sized(w.items, rows*(d+2))
	for i := lo; i < hi; i++ {
		at := i
		if order != nil {
			at = int(order[i])
		}
		u := w.items[(i-lo)*(d+2) : (i-lo+1)*(d+2)]
		if q.nodes != nil {
			v := q.nodes[at]
			copy(u, f.row(v))
			u[d], u[d+1] = float32(f.t-f.square[v]), -1
			continue
		}
		c := q.clusters[at]
		for j, e := range q.s.of(c) {
			u[j] = float32(e)
		}
		n := float64(q.s.size[c])
		u[d], u[d+1] = float32(float64(n*f.t)-q.s.square[c]), float32(-n)
	}
	w.packed.Pack(hi-lo, d+2, w.items[:(hi-lo)*(d+2)])
	w.old = w.old[:0]
	for i := lo; i < hi; i++ {
		at := i
		if order != nil {
			at = int(order[i])
		}
		w.old = append(w.old, q.cluster(at))
	}
}

// cluster returns the cluster of an item, -1 for none.
func (q *search) cluster(item int) int32 {
	if q.nodes != nil {
		return q.s.labels[q.nodes[item]]
	}
	return q.clusters[item]
}

func (q *search) begin(w *scratch) {
	if w.keys == nil {
		w.keys = make([]float32, maxTile*maxCols)
		w.zero = make([]float32, maxTile)
		w.index, w.value = make([]int32, maxCols), make([]float32, maxCols)
		w.moved = make([]uint64, maxCols/64)
		w.best, w.least, w.owned = make([]int32, rows), make([]float32, rows), make([]float32, rows)
	}
	for i := range w.best {
		w.best[i], w.least[i] = -1, math.MaxFloat32
	}
}

// compare scores the gathered items with clusters [from, to) of terms. Their numbers
// are those of names, or where that is nil their own.
func (q *search) compare(w *scratch, items int, terms []float32, names []int32, from, to int) {
	wide := q.s.f.d + 2
	for tile := from; tile < to; tile += maxTile {
		rows := min(maxTile, to-tile)
		for col := 0; col < items; col += maxCols {
			end := min(col+maxCols, w.packed.Cols())
			cols := min(maxCols, items-col)
			w.packed.Dots(rows, terms[tile*wide:], wide, col, end, -1, w.keys, maxCols)
			q.hideOwn(w, names, tile, rows, col, cols)
			least := kernel.LeastKeys{Rows: rows, Cols: end - col, X: w.keys, LD: maxCols, B: w.zero[:rows],
				Old: w.index, Index: w.index, Value: w.value, Moved: w.moved}
			least.Find()
			for j := range cols {
				if v := w.value[j]; v < w.least[col+j] {
					c := int32(tile) + w.index[j]
					if names != nil {
						c = names[c]
					}
					w.best[col+j], w.least[col+j] = c, v
				}
			}
		}
	}
}

// hideOwn notes the key of each item with its own cluster, where the tile has it,
// and makes it the largest.
func (q *search) hideOwn(w *scratch, names []int32, tile, rows, col, cols int) {
	for j := range cols {
		own := int(w.old[col+j])
		if names != nil && own >= 0 {
			own = int(q.groups.place[own])
		}
		if own -= tile; own >= 0 && own < rows {
			w.owned[col+j] = w.keys[own*maxCols+j]
			w.keys[own*maxCols+j] = math.MaxFloat32
		}
	}
}

// finish writes what was found for items [lo, hi), or those of order there.
func (q *search) finish(w *scratch, lo, hi int, order []int32) {
	for i := lo; i < hi; i++ {
		at := i
		if order != nil {
			at = int(order[i])
		}
		q.best[at], q.score[at], q.own[at] = w.best[i-lo], -w.least[i-lo], -w.owned[i-lo]
	}
}
