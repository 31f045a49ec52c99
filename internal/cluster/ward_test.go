package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/testutil"
)

// Merging in rounds gives the tree of the chain of nearest neighbors, which
// TestAgglomerativeAgainstLoops compares with loops.
func TestWardRounds(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(4, 4))
	const n, d = 1200, 7
	loose, _ := clustertest.Blobs(3, n, d, 1, 0)
	tight, _ := clustertest.Blobs(3, n, d, 30, 100)
	// One heavy group, and rows ever farther from it: rounds merge little.
	hub := make([]float32, n*d)
	for i := range n {
		for j := range d {
			hub[i*d+j] = float32(.01 * r.NormFloat64())
		}
		if i > n/2 {
			hub[i*d+i%d] = float32(100 * math.Exp(.01*float64(i)))
		}
	}
	few := make([]float32, n*d) // many equal distances
	for i := range few {
		few[i] = float32(r.IntN(3))
	}
	for name, x := range map[string][]float32{"loose": loose, "tight": tight, "hub": hub, "few": few} {
		data := center(x, n, d)
		trees := make([][]Merge, 2)
		byRounds := 0
		for way := range trees {
			w, err := newWard(ctx, x, data)
			if err != nil {
				t.Fatal(err)
			}
			tr := newTree(n, nil)
			if way == 0 {
				if err := w.rounds(ctx, tr); err != nil {
					t.Fatal(err)
				}
				byRounds = len(tr.joins)
			}
			if err := tr.chain(ctx, w); err != nil {
				t.Fatal(err)
			}
			trees[way] = dendrogram(tr.joins, n)
		}
		if byRounds == 0 || name == "loose" && byRounds < n-wardLast-100 {
			t.Errorf("%s: %d merges in rounds", name, byRounds)
		}
		for i, m := range trees[0] {
			w := trees[1][i]
			if name == "few" { // equal distances may be taken in another order
				if !testutil.WithinRelative(m.Distance, w.Distance, .2) {
					t.Fatalf("%s, merge %d: %+v, want %+v", name, i, m, w)
				}
				continue
			}
			if m.A != w.A || m.B != w.B || m.Size != w.Size || !testutil.WithinRelative(m.Distance, w.Distance, 1e-9) {
				t.Fatalf("%s, merge %d: %+v, want %+v", name, i, m, w)
			}
		}
	}
}

// The nearest cluster and the distance of the next one are those of a search in float64.
func TestWardSearch(t *testing.T) {
	const n, d = 300, 40
	x, _ := clustertest.Blobs(8, n, d, 5, 4)
	copy(x[5*d:6*d], x[4*d:5*d])
	data := center(x, n, d)
	w, err := newWard(context.Background(), x, data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(100) { // clusters of several sizes
		w.merge(n-1-i, i%17)
	}
	w.compact()
	slots := slices.Clone(w.active)
	check := func(way string) {
		t.Helper()
		for _, i := range slots {
			at, least, second := int32(-1), math.Inf(1), math.Inf(1)
			for _, j := range slots {
				if v := w.distance(i, j); j != i && v < second {
					if second = v; v < least {
						at, least, second = j, v, least
					}
				}
			}
			if w.next[i] != at || w.least[i] != least || w.bound[i] != second {
				t.Fatalf("%s, %d: nearest %d at %v and %v, want %d at %v and %v", way, i, w.next[i], w.least[i], w.bound[i], at, least, second)
			}
		}
	}
	for _, i := range slots {
		w.search(i)
	}
	check("one by one")
	w.pack()
	slots = slices.Clone(w.active)
	for i := range w.next {
		w.next[i] = -1
	}
	w.searchAll(slots)
	check("at once")
}

func TestPairs(t *testing.T) {
	const n = 75
	p := newPairs(n)
	square := make([]float32, 80*100)
	at := func(i, j int) float32 { return float32(100*min(i, j) + max(i, j)) }
	for lo := 0; lo < n; lo += 16 {
		hi := min(lo+16, n)
		for i := lo; i < hi; i++ {
			for j := range n {
				square[(i-lo)*100+j] = at(i, j)
			}
		}
		p.store(lo, hi, square, 100)
	}
	name := make([]int, n) // of each slot
	slots := make([]int32, n)
	for i := range slots {
		name[i], slots[i] = i, int32(i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for len(slots) > 1 {
		to := make([]float32, n)
		for _, i := range slots {
			got := p.gather(i, slots, to)
			for a, j := range slots {
				if want := at(name[i], name[j]); i != j && (got[a] != want || p.get(i, j) != want) {
					t.Fatalf("%d, %d: %v and %v, want %v", i, j, got[a], p.get(i, j), want)
				}
			}
		}
		for range 1 + len(slots)/3 {
			if len(slots) > 1 {
				i := r.IntN(len(slots))
				slots = slices.Delete(slots, i, i+1)
			}
		}
		// What is scattered is gathered again.
		i := slots[r.IntN(len(slots))]
		p.scatter(i, slots, slices.Clone(p.gather(i, slots, to)))
		p.keep(slots)
		for a, j := range slots {
			name[a], slots[a] = name[j], int32(a)
		}
	}
}

// The nearest few, ties by slot, and the least of the others.
func TestNearby(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		n := r.IntN(40)
		v := make([]float32, n)
		order := make([]int32, n)
		var s nearby
		s.reset()
		for i := range v {
			v[i], order[i] = float32(r.IntN(20)), int32(i)
			if v[i] < s.bound {
				s.see(int32(i), v[i])
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int { return int(v[a] - v[b]) })
		want := float32(math.Inf(1))
		if n > nearCount {
			want = v[order[nearCount]]
		}
		if k := min(n, nearCount); int(s.count) != k || !slices.Equal(s.slot[:k], order[:k]) || s.bound != want {
			t.Fatalf("%v: %+v, want %v and %v", v, s, order[:min(n, nearCount)], want)
		}
	}
}
