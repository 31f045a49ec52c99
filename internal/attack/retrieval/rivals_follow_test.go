package retrieval

import (
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// A query that moves in small and large steps, against loops at every step: in galleries
// whose lists hold all rows and a part of them, with rows that repeat, after others left.
func TestFollowedRivalsAgainstLoops(t *testing.T) {
	t.Parallel()
	for _, n := range []int{90, 2400} {
		const d = 6
		r := rng.New(uint64(n), "follow")
		x, labels := array.New(n, d), make([]int32, n)
		for i := range n {
			labels[i] = int32(i % 3)
			for k := range x.Row(i) {
				x.Row(i)[k] = float32(labels[i]) + float32(0.5*r.NormFloat64())
			}
			if i > 6 && i%5 == 0 {
				copy(x.Row(i), x.Row(i-3-i%2)) // of the same label or of another
			}
		}
		g, err := NewGallery(x, labels)
		if err != nil {
			t.Fatal(err)
		}
		v, items, z := NewRivals(g, nil), []int{3, 4, 8, 20, 33}, array.New(5, d)
		for i, q := range items {
			copy(z.Row(i), x.Row(q))
		}
		v.Aim(items)
		followed, lists, labeled := 0, 0, 0
		for step := range 150 {
			if step == 60 {
				v.Retain([]int{1, 2, 4})
				for to, from := range []int{1, 2, 4} {
					items[to] = items[from]
					copy(z.Row(to), z.Row(from))
				}
				items = items[:3]
				z.SetRows(3)
			}
			v.Find(z, 1)
			followed += len(items) - len(v.whole)
			for i, q := range items {
				right, wrong := plainRivals(g, nil, q, z.Row(i))
				for side, all := range [][]Neighbor{right, wrong} {
					want := []Neighbor{slices.MinFunc(all, Neighbor.Compare)}
					if got := [][]Neighbor{v.Right(i), v.Wrong(i)}[side]; got[0].Row != want[0].Row {
						t.Fatalf("%d rows, step %d, query %d, side %d: %v, want %v", n, step, q, side, got, want)
					}
				}
				label := int32((q + step/25) % 3) // changes now and then
				own := slices.DeleteFunc(slices.Concat(right, wrong), func(n Neighbor) bool { return labels[n.Row] != label })
				if got, found := v.Labeled(i, z.Row(i), label); !found || got.Row != slices.MinFunc(own, Neighbor.Compare).Row {
					t.Fatalf("%d rows, step %d, query %d, label %d: %v", n, step, q, label, got)
				}
				labeled += v.labeled[i].used
				lists += len(v.trails[i].near[1].rows)
				size := 0.002
				if step%40 == 39 {
					size = 0.4
				}
				for k := range z.Row(i) {
					z.Row(i)[k] += float32(size * r.NormFloat64())
				}
			}
		}
		if followed < 200 || lists == 0 || labeled < 200 {
			t.Errorf("%d rows: %d searches by lists of %d rows, of labels %d", n, followed, lists, labeled)
		}
	}
}
