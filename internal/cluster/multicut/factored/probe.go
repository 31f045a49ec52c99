package factored

import (
	"context"
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	// exact is the most products of two numbers that one search spends on
	// comparing all items with all clusters, some seconds' worth. What needs more
	// looks at the clusters nearby alone.
	exact  = 2e11
	probes = 8 // groups of clusters that a group of items looks at
	passes = 4 // of Lloyd's algorithm that makes the groups
	sample = 32
)

// probe divides many clusters into about sqrt(k) groups by their means, so
// that items need only be compared with the clusters of the groups nearest to their
// own: an inverted file (Sivic and Zisserman 2003). A cluster that is not in them is
// overlooked, which costs quality, never correctness: searches propose.
type probe struct {
	q       *search
	dim     int
	centers []float32 // (groups, d)
	square  []float32 // (groups)
	near    []int32   // (groups, probes) the nearest groups of each, itself first
	probes  int

	terms []float32 // (k, d+2) by group
	names []int32   // (k) cluster at each place
	place []int32   // (k) place of each cluster
	start []int     // (groups+1) first place of each group

	order []int32 // items by group
	tasks []probeTask

	scratches par.Free[nearest]
}

type probeTask struct{ group, lo, hi int }

// probe is run with groups.
func (q *search) probe(ctx context.Context) error {
	if q.groups == nil {
		q.groups = &probe{q: q, dim: q.s.f.d}
	}
	g := q.groups
	if err := g.build(ctx); err != nil {
		return err
	}
	items := len(q.best)
	group := make([]int32, items)
	g.assign(items, func(i int, out []float32) {
		if q.nodes != nil {
			copy(out, q.s.f.row(q.nodes[i]))
			return
		}
		g.mean(q.clusters[i], out)
	}, group)
	starts := sortByKey(group, len(g.square), &g.order)
	g.tasks = g.tasks[:0]
	for k := range len(g.square) {
		for lo := starts[k]; lo < starts[k+1]; lo += rows {
			g.tasks = append(g.tasks, probeTask{k, lo, min(lo+rows, starts[k+1])})
		}
	}
	par.Do(len(g.tasks), 1, g)
	return ctx.Err()
}

// sortByKey orders 0..n-1 by key, in 0..k-1, those of one key by number, and
// returns where each key begins.
func sortByKey(key []int32, k int, order *[]int32) []int {
	starts := make([]int, k+1)
	for _, v := range key {
		starts[v+1]++
	}
	for i := range k {
		starts[i+1] += starts[i]
	}
	next := slices.Clone(starts)
	*order = sized(*order, len(key))
	for i, v := range key {
		(*order)[next[v]] = int32(i)
		next[v]++
	}
	return starts
}

// mean writes the mean of a cluster.
func (g *probe) mean(c int32, out []float32) {
	n := float64(g.q.s.size[c])
	for j, v := range g.q.s.of(c) {
		out[j] = float32(v / n)
	}
}

// build makes the groups: Lloyd's algorithm on a sample of the clusters' means, from
// evenly spaced ones.
func (g *probe) build(ctx context.Context) error {
	k, d := g.q.k, g.dim
	groups := max(1, int(math.Sqrt(float64(k))))
	sample := min(k, groups*sample)
	rows := make([]float32, sample*d)
	for i := range sample {
		g.mean(int32(i*k/sample), rows[i*d:(i+1)*d])
	}
	g.centers = sized(g.centers, groups*d)
	for c := range groups {
		copy(g.centers[c*d:(c+1)*d], rows[c*sample/groups*d:][:d])
	}
	label := make([]int32, sample)
	sum, size := make([]float64, groups*d), make([]int, groups)
	for range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.assign(sample, func(i int, out []float32) { copy(out, rows[i*d:(i+1)*d]) }, label)
		clear(sum)
		clear(size)
		for i, c := range label {
			kernel.AddRow(sum[int(c)*d:(int(c)+1)*d], rows[i*d:(i+1)*d])
			size[c]++
		}
		for i, v := range sum {
			if n := size[i/d]; n > 0 {
				g.centers[i] = float32(v / float64(n))
			}
		}
	}
	group := make([]int32, k)
	g.assign(k, func(i int, out []float32) { g.mean(int32(i), out) }, group)
	g.start = sortByKey(group, groups, &g.names)
	g.place = sized(g.place, k)
	g.terms = sized(g.terms, k*(d+2))
	for at, c := range g.names {
		g.place[c] = int32(at)
		copy(g.terms[at*(d+2):(at+1)*(d+2)], g.q.terms[int(c)*(d+2):])
	}
	g.neighbors(groups)
	return nil
}

// neighbors finds the groups nearest to each group's center.
func (g *probe) neighbors(groups int) {
	d := g.dim
	g.probes = min(groups, probes)
	g.near = sized(g.near, groups*g.probes)
	par.For(groups, 16, func(lo, hi int) {
		dist := make([]float64, groups)
		for c := lo; c < hi; c++ {
			for o := range groups {
				dist[o] = kernel.SquaredDistance(g.centers[c*d:(c+1)*d], g.centers[o*d:(o+1)*d])
			}
			dist[c] = -1
			for p := range g.probes {
				at := 0
				for o, v := range dist {
					if v < dist[at] {
						at = o
					}
				}
				g.near[c*g.probes+p] = int32(at)
				dist[at] = math.Inf(1)
			}
		}
	})
}

// nearest is the scratch of assign.
type nearest struct {
	rows   []float32
	packed kernel.PackedRows
	keys   []float32
	index  []int32
	value  []float32
	moved  []uint64
}

// assign finds for n rows, written by at, the nearest center.
func (g *probe) assign(n int, at func(i int, out []float32), out []int32) {
	d, groups := g.dim, len(g.centers)/g.dim
	g.square = sized(g.square, groups)
	for c := range groups {
		g.square[c] = float32(kernel.SumSquares(g.centers[c*d : (c+1)*d]))
	}
	par.For(n, maxCols, func(lo, hi int) {
		w := g.scratches.Get()
		w.rows = sized(w.rows, maxCols*d)
		w.keys = sized(w.keys, groups*maxCols)
		w.index, w.value = sized(w.index, maxCols), sized(w.value, maxCols)
		w.moved = sized(w.moved, maxCols/64)
		for i := lo; i < hi; i++ {
			at(i, w.rows[(i-lo)*d:(i-lo+1)*d])
		}
		w.packed.Pack(hi-lo, d, w.rows[:(hi-lo)*d])
		cols := w.packed.Cols()
		w.packed.Dots(groups, g.centers, d, 0, cols, -2, w.keys, maxCols)
		least := kernel.LeastKeys{Rows: groups, Cols: cols, X: w.keys, LD: maxCols, B: g.square[:groups],
			Old: w.index, Index: w.index, Value: w.value, Moved: w.moved}
		least.Find()
		copy(out[lo:hi], w.index)
		g.scratches.Put(w)
	})
}

// Run does tasks [lo, hi): items of one group with the clusters of the groups near it.
func (g *probe) Run(lo, hi int) {
	w := g.q.scratches.Get()
	for _, t := range g.tasks[lo:hi] {
		g.q.gather(w, t.lo, t.hi, g.order)
		g.q.begin(w)
		// The own cluster of an item may be in none of these groups.
		for i, c := range w.old {
			w.owned[i] = -g.q.scoreOwn(t.lo+i, c)
		}
		for _, o := range g.near[t.group*g.probes : (t.group+1)*g.probes] {
			g.q.compare(w, t.hi-t.lo, g.terms, g.names, g.start[o], g.start[o+1])
		}
		g.q.finish(w, t.lo, t.hi, g.order)
	}
	g.q.scratches.Put(w)
}

// scoreOwn returns the score of the item at a place of the groups' order with its
// own cluster c.
func (q *search) scoreOwn(at int, c int32) float32 {
	if q.nodes == nil || c < 0 {
		return 0
	}
	return float32(q.s.score(q.nodes[q.groups.order[at]], c))
}
