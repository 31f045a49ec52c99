package retrieval

import (
	"cmp"
	"math"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/par"
)

// Neighbor is a row with its squared distance from a query, in float64.
type Neighbor struct {
	Row    int32
	Square float64
}

// Compare orders rows as retrieval does: by distance, equal ones by index.
func (a Neighbor) Compare(b Neighbor) int {
	return cmp.Or(cmp.Compare(a.Square, b.Square), cmp.Compare(a.Row, b.Row))
}

// Rivals finds, for embeddings of queries, the rows that decide recall@1: the nearest of
// the query's label and the nearest of another, the query itself and its sequence left
// out. It decides as the variant fixed of the scores does.
type Rivals struct {
	g       *Gallery
	of      *Members
	left    []bool    // (N) rows that no query is compared with; nil: none
	hidden  [][]int32 // (B)
	same    [][]int32 // (B) rows of the query's label
	k       int
	z       *array.Array
	d       *Distances
	whole   []int           // queries of the rows of d: those that are searched for among all rows
	part    *array.Array    // their embeddings, where they are not all
	found   [2][][]Neighbor // (B) right and wrong, nearest first
	scratch []rivalScratch
	trails  []trail      // (B)
	labeled []labelTrail // (B)
}

type rivalScratch struct {
	keys, spare []float32
	found       []Neighbor
}

// NewRivals returns a search in g without the rows that are marked; nil marks none.
func NewRivals(g *Gallery, without []bool) *Rivals {
	return &Rivals{g: g, of: NewMembers(g.Labels), left: without}
}

// Aim makes the images items the queries of Find.
func (r *Rivals) Aim(items []int) {
	r.hidden, r.same = r.hidden[:0], r.same[:0]
	for _, q := range items {
		r.hidden, r.same = append(r.hidden, r.g.Hidden(q)), append(r.same, r.of.Labeled(r.g.Label(q)))
	}
	for len(r.trails) < len(items) {
		r.trails, r.labeled = append(r.trails, trail{}), append(r.labeled, labelTrail{})
	}
	for i := range items {
		r.trails[i].forget()
		r.labeled[i].forget()
	}
}

// Retain leaves the queries of rows, ascending places among the present ones.
func (r *Rivals) Retain(rows []int) {
	for to, from := range rows {
		r.hidden[to], r.same[to] = r.hidden[from], r.same[from]
		r.trails[to], r.trails[from] = r.trails[from], r.trails[to]
		r.labeled[to], r.labeled[from] = r.labeled[from], r.labeled[to]
	}
	r.hidden, r.same = r.hidden[:len(rows)], r.same[:len(rows)]
}

// Find finds the k nearest right and the k nearest wrong rows of queries at z (B, D), or as
// many as there are. A query that is not a number has none.
func (r *Rivals) Find(z *array.Array, k int) {
	b := z.Rows()
	for len(r.scratch) < b {
		r.scratch = append(r.scratch, rivalScratch{})
		r.found[0], r.found[1] = append(r.found[0], nil), append(r.found[1], nil)
	}
	r.k, r.z, r.whole = k, z, r.whole[:0]
	par.Do(b, 1, (*followed)(r))
	for i := range b {
		if len(r.found[0][i]) == 0 {
			r.whole = append(r.whole, i)
		}
	}
	if len(r.whole) == 0 {
		return
	}
	r.d = r.g.Measure(r.gathered())
	par.Do(len(r.whole), 1, r)
	r.d.Release()
	r.d, r.z = nil, nil
}

// gathered returns the embeddings of the queries that are searched for among all rows.
func (r *Rivals) gathered() *array.Array {
	if len(r.whole) == r.z.Rows() {
		return r.z
	}
	if r.part == nil {
		r.part = array.New(len(r.whole), r.z.Cols())
	}
	r.part.SetRows(len(r.whole))
	for at, i := range r.whole {
		copy(r.part.Row(at), r.z.Row(i))
	}
	return r.part
}

// Right lists the rows of query i's label that Find found, nearest first.
func (r *Rivals) Right(i int) []Neighbor { return r.found[0][i] }

// Wrong lists the rows of other labels.
func (r *Rivals) Wrong(i int) []Neighbor { return r.found[1][i] }

// Beaten reports whether a wrong row comes before every right one.
func (r *Rivals) Beaten(i int) bool { return Beaten(r.Right(i), r.Wrong(i)) }

// Beaten reports whether the first of the wrong rows comes before the first of the right
// ones in the order of retrieval. Where there are none of either, the query is not a number
// and nothing right is found.
func Beaten(right, wrong []Neighbor) bool {
	return len(right) == 0 || len(wrong) > 0 && wrong[0].Compare(right[0]) < 0
}

// Run searches all rows for queries r.whole[lo:hi].
func (r *Rivals) Run(lo, hi int) {
	for at := lo; at < hi; at++ {
		i := r.whole[at]
		r.d.Finish(at)
		r.found[0][i], r.found[1][i] = r.found[0][i][:0], r.found[1][i][:0]
		if r.d.Unranked(at) {
			continue
		}
		r.d.HideAll(at, r.hidden[i])
		if r.left != nil {
			row := r.d.Row(at)
			for j, out := range r.left {
				if out {
					row[j] = hidden
				}
			}
		}
		follow := r.k == 1 && r.d.squares[at] < longest/4 && r.trails[i].due(r.z.Row(i))
		r.found[0][i] = r.nearest(at, r.same[i], r.found[0][i])
		if follow {
			r.list(at, 0, r.same[i])
		}
		r.d.HideAll(at, r.same[i])
		r.found[1][i] = r.nearest(at, nil, r.found[1][i])
		if follow {
			r.list(at, 1, r.g.self)
		}
	}
}

// nearest appends the k rows nearest to query r.whole[at] that are not hidden, of a list or,
// without one, of all.
func (r *Rivals) nearest(at int, list []int32, out []Neighbor) []Neighbor {
	if r.k == 1 {
		var n Neighbor
		if list == nil {
			n.Row, n.Square = r.d.Least(at)
		} else {
			n.Row, n.Square = r.d.LeastAmong(at, list)
		}
		if n.Row < 0 {
			return out
		}
		return append(out, n)
	}
	row, s := r.d.Row(at), &r.scratch[at]
	each := func(f func(j int32, v float32)) {
		if list == nil {
			for j, v := range row {
				f(int32(j), v)
			}
			return
		}
		for _, j := range list {
			f(j, row[j])
		}
	}
	s.keys, s.found = s.keys[:0], s.found[:0]
	each(func(_ int32, v float32) {
		if v == v {
			s.keys = append(s.keys, v)
		}
	})
	if len(s.keys) == 0 {
		return out
	}
	k := min(r.k, len(s.keys))
	limit := above(Ascending(s.keys, &s.spare)[k-1], 2*r.d.slack(at))
	z := r.d.z.Row(at)
	each(func(j int32, v float32) {
		if v <= limit {
			s.found = append(s.found, Neighbor{j, r.g.Squared(z, int(j))})
		}
	})
	slices.SortFunc(s.found, Neighbor.Compare)
	return append(out, s.found[:k]...)
}

// Cells orders the wrong rows of a query by a lower bound on how far z0 is from the part of
// the space where the row is nearest (its Voronoi cell; Wang et al., arXiv 1906.03972): the
// largest, over the given right rows p, of (d_n^2 - d_p^2) / (2 |g_n - g_p|), at least 0. It
// appends to out the rows of the count smallest, at most perLabel of each label. Find of z0
// comes before, with right rows; i is the query's place in it.
func (r *Rivals) Cells(i int, z0 []float32, count, perLabel int, out []int32) []int32 {
	right, n := r.Right(i), r.g.Len()
	rows := array.New(len(right), r.g.X.Cols())
	for k, p := range right {
		copy(rows.Row(k), r.g.X.Row(int(p.Row)))
	}
	apart := make([]float32, len(right)*n)
	r.g.Distances(rows, apart)
	skip := make([]bool, n)
	copy(skip, r.left)
	for _, list := range [][]int32{r.hidden[i], r.same[i]} {
		for _, j := range list {
			skip[j] = true
		}
	}
	var cells []Neighbor // with the bound for the distance
	for j := range n {
		if skip[j] {
			continue
		}
		square, bound := r.g.Squared(z0, j), 0.0
		for k, p := range right {
			if d := float64(apart[k*n+j]); d > 0 {
				bound = max(bound, (square-p.Square)/(2*d))
			} else if square > p.Square {
				bound = math.Inf(1)
			}
		}
		cells = append(cells, Neighbor{int32(j), bound})
	}
	slices.SortFunc(cells, Neighbor.Compare)
	taken, have := map[int32]int{}, 0
	for _, c := range cells {
		if l := r.g.Labels[c.Row]; have < count && taken[l] < perLabel {
			taken[l]++
			have++
			out = append(out, c.Row)
		}
	}
	return out
}
