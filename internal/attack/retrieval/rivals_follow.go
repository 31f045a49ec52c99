package retrieval

import (
	"math"
	"slices"

	"tercet/internal/engine/kernel"
)

// An attack asks for the nearest rows of a query again and again while its embedding moves
// a little. Rivals.Find follows it: around an embedding that was searched for among all rows
// it keeps, of each kind, the rows that can come first nearby, and for each how far away.
// While the query is near enough these rows decide, with the same result.

const (
	listed     = 512     // rows of a kind that are kept, or a few more where distances are equal
	worthwhile = 8       // uses after which a list has paid
	longPause  = 31      // whole searches between lists that do not pay, at most
	rounding   = 0x1p-30 // above the relative error of squared distances in float64
	outworn    = 10000   // rows measured by lists after which new ones, nearer to the query, cost less
	furthest   = 1e17    // reach of a list of all rows: the query still has float32 distances
)

// trail is what is kept of a query.
type trail struct {
	at          []float32 // (D) the embedding around which the lists are; empty: there are none
	near        [2]shortlist
	used        int // since the lists were made
	measured    int // rows, by then
	wait, pause int // whole searches before the next lists, and after them
}

// shortlist is the nearest row of a kind at an embedding, with the rows that come first
// instead of it somewhere within reach.
type shortlist struct {
	first int32
	rows  []Neighbor // ascending; in place of a square, the distance within which the row does not come first
	reach float64    // where other rows may come first
}

// forget drops the lists. The next search makes none: it may be the only one.
func (t *trail) forget() { t.at, t.used, t.wait, t.pause = t.at[:0], 0, 1, 0 }

// due reports whether lists are to be made at z, and says where they are.
func (t *trail) due(z []float32) bool {
	if t.wait > 0 {
		t.wait--
		return false
	}
	t.pause = min(2*t.pause+1, longPause)
	t.at, t.used, t.measured, t.wait = append(t.at[:0], z...), 0, 0, t.pause
	return true
}

// decided notes that the lists have decided a search, by so many rows.
func (t *trail) decided(measured int) {
	t.measured += measured
	if t.used++; t.used == worthwhile {
		t.wait, t.pause = 0, 0
	}
}

// list makes the list of a kind for query r.whole[at], whose nearest row of that kind is
// found. Rows of it that are not compared are hidden.
//
// Row j comes before the first row i only where <z - at, g_j - g_i> exceeds half the
// difference of their squared distances from at, so not within that over |g_j - g_i|. The
// rows that are not measured are farther from at than limit: they do not come first within
// half of what limit is more than the distance of row i.
func (r *Rivals) list(at, kind int, rows []int32) {
	i := r.whole[at]
	t, s, d, z := &r.trails[i], &r.scratch[at], r.d.Row(at), r.z.Row(i)
	l := &t.near[kind]
	l.rows, l.reach, l.first = l.rows[:0], furthest, -1
	if len(r.found[kind][i]) == 0 {
		l.reach = 0
		return
	}
	first := r.found[kind][i][0]
	l.first = first.Row
	s.keys = s.keys[:0]
	for _, j := range rows {
		if v := d[j]; v == v {
			s.keys = append(s.keys, v)
		}
	}
	limit := float32(math.Inf(1))
	if len(s.keys) > listed {
		limit = Ascending(s.keys, &s.spare)[listed-1]
		far, near := math.Sqrt(max(0, float64(float64(limit)*float64(limit))-r.d.slack(at))), math.Sqrt(first.Square)
		l.reach = float64((far-near)/2) - float64(rounding*(far+near))
	}
	for _, j := range rows {
		if d[j] <= limit {
			l.consider(r.g, z, first, j)
		}
	}
	slices.SortFunc(l.rows, Neighbor.Compare)
}

// consider appends row j if it comes before first somewhere within reach of z.
func (l *shortlist) consider(g *Gallery, z []float32, first Neighbor, j int32) {
	if j == first.Row {
		return
	}
	square, within := g.Squared(z, int(j)), 0.0
	if gap := square - first.Square - float64(rounding*(square+first.Square)); gap > 0 {
		within = gap / (2 * math.Sqrt(g.Squared(g.X.Row(int(first.Row)), int(j))))
	}
	if within < l.reach {
		l.rows = append(l.rows, Neighbor{j, within})
	}
}

// nearest returns the row of the list that is nearest to z, at the distance far from where
// the list was made, and how many rows it has measured: none where a row that is not on the
// list may be nearer.
func (l *shortlist) nearest(g *Gallery, z []float32, far float64) (best Neighbor, measured int) {
	if !(far < l.reach) {
		return best, 0
	}
	best, measured = Neighbor{l.first, g.Squared(z, int(l.first))}, 1
	for _, c := range l.rows {
		if c.Square > far {
			break
		}
		measured++
		if n := (Neighbor{c.Row, g.Squared(z, int(c.Row))}); n.Compare(best) < 0 {
			best = n
		}
	}
	return best, measured
}

// followed is Rivals where it decides by lists.
type followed Rivals

// Run finds the rows of those of the queries [lo, hi) whose lists decide, and none of others.
func (r *followed) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		r.found[0][i], r.found[1][i] = r.found[0][i][:0], r.found[1][i][:0]
		t, z := &r.trails[i], r.z.Row(i)
		if r.k != 1 || len(t.at) == 0 || t.measured > outworn {
			continue
		}
		far := math.Sqrt(kernel.SquaredDistanceLanes(z, t.at))
		right, rights := t.near[0].nearest(r.g, z, far)
		if rights == 0 {
			continue
		}
		wrong, wrongs := t.near[1].nearest(r.g, z, far)
		if wrongs == 0 {
			continue
		}
		t.decided(rights + wrongs)
		r.found[0][i], r.found[1][i] = append(r.found[0][i], right), append(r.found[1][i], wrong)
	}
}
