package attack

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
)

// literalGTM follows the official selection array by array: ranks of all items
// with the masked one last, the ranks of the items of other labels than the first
// one's put together, and the place of the least in there.
func literalGTM(g *retrieval.Gallery, clean []float32) (target int, first int) {
	d := make([]float64, g.Len())
	order := make([]int, g.Len())
	for j := range d {
		d[j], order[j] = retrievaltest.Square(g.X.Row(j), clean), j
	}
	self := 0
	for j := range d {
		if d[j] < d[self] {
			self = j
		}
	}
	d[self] = 1e38
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case d[a] < d[b]:
			return -1
		case d[a] > d[b]:
			return 1
		}
		return 0
	})
	rank := make([]int, len(d))
	for k, j := range order {
		rank[j] = k
	}
	var unmatching []int
	for j := range d {
		if g.Labels[j] != g.Labels[order[0]] {
			unmatching = append(unmatching, rank[j])
		}
	}
	return slices.Index(unmatching, slices.Min(unmatching)), order[0]
}

func TestGTMTargets(t *testing.T) {
	wrong, foreign := 0, 0
	for seed := range uint64(30) {
		for _, o := range []fieldOptions{
			{n: 40, d: 4, labels: 4, queries: 12, spread: 1.5},
			{n: 40, d: 4, labels: 4, queries: 12, spread: 1.5, raw: true, copies: true},
			{n: 5, d: 2, labels: 2, queries: 5, spread: 1},
		} {
			f := newField(t, seed, o)
			published, fixed := mustMethod(t, "GTM", f.g, Published, MethodOptions{}), mustMethod(t, "GTM", f.g, Fixed, MethodOptions{})
			mustAim(t, published, f.batch, 0)
			mustAim(t, fixed, f.batch, 0)
			for i, item := range f.batch.Items {
				want, first := literalGTM(f.g, f.batch.Clean.Row(i))
				if got := published.Targets(i); len(got) != 1 || int(got[0]) != want {
					t.Errorf("seed %d, %+v, item %d: published target %v, want %d", seed, o, item, got, want)
				}
				right := retrievaltest.Extreme(f.g.X, f.batch.Clean.Row(i), 1, func(j int) bool { return f.g.Labels[j] != f.g.Labels[item] })
				if got := fixed.Targets(i); len(got) != 1 || int(got[0]) != right {
					t.Errorf("seed %d, %+v, item %d: fixed target %v, want %d", seed, o, item, got, right)
				}
				if want != right {
					wrong++
				}
				if f.g.Labels[first] != f.g.Labels[item] {
					foreign++
				}
			}
		}
	}
	if wrong < 100 || foreign < 100 {
		t.Errorf("the faults hardly matter here: %d targets differ, %d first matches of another label", wrong, foreign)
	}
}

// The item retrieved first, r, is of another label; all the others share its
// label, so that of "other" labels only the masked query is left.
func TestGTMOnlyTheQueryIsLeft(t *testing.T) {
	x, _ := array.Of([]float32{3, 0, 1, 2.5}, 4, 1)
	g := mustGallery(t, x, []int32{5, 5, 9, 5})
	b := &Batch{Items: []int{2}, Clean: x.Slice(2, 3)}
	m := mustMethod(t, "GTM", g, Published, MethodOptions{})
	mustAim(t, m, b, 0)
	if want, _ := literalGTM(g, x.Row(2)); m.Targets(0)[0] != int32(want) || want != 0 {
		t.Errorf("target %v, want %d", m.Targets(0), want)
	}
}

// The label of the query itself may be another one: with duplicates the masked item is not
// the query, and counts among the unmatching ones but comes last.
func TestGTMDuplicates(t *testing.T) {
	x, _ := array.Of([]float32{0, 0, 0, 4, 6}, 5, 1)
	for _, labels := range [][]int32{{0, 1, 2, 0, 1}, {2, 1, 1, 1, 2}, {0, 0, 1, 1, 1}, {1, 0, 0, 0, 0}} {
		g := mustGallery(t, x, labels)
		for item := range 5 {
			m := mustMethod(t, "GTM", g, Published, MethodOptions{})
			mustAim(t, m, &Batch{Items: []int{item}, Clean: x.Slice(item, item+1)}, 0)
			if want, _ := literalGTM(g, x.Row(item)); m.Targets(0)[0] != int32(want) {
				t.Errorf("labels %v, item %d: target %v, want %d", labels, item, m.Targets(0), want)
			}
		}
	}
}

func TestGTMObjective(t *testing.T) {
	for what, f := range fields(t) {
		for _, v := range variants() {
			m := mustMethod(t, "GTM", f.g, v, MethodOptions{})
			mustAim(t, m, f.batch, 0)
			t.Run(what+" "+string(v), func(t *testing.T) {
				checkObjective(t, m, f.z, func(i int, z []float32) float64 {
					s, target := 0.0, f.g.X.Row(int(m.Targets(i)[0]))
					for k := range z {
						s += math.Pow(float64(z[k])-float64(target[k])+1e-6, 2)
					}
					return math.Sqrt(s)
				})
			})
		}
	}
}
