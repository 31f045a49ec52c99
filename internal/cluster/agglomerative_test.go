package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cluster/clustertest"
	"tercet/internal/par"
	"tercet/internal/testutil"
)

// plainAgglomerative joins the two nearest clusters again and again, with distances
// from their definitions: over all pairs of rows, or of the means.
func plainAgglomerative(x []float32, n, d int, linkage string) []Merge {
	type group struct {
		id   int
		rows []int
	}
	var groups []group
	for i := range n {
		groups = append(groups, group{i, []int{i}})
	}
	between := func(a, b []int) float64 {
		if linkage == "ward" {
			var s float64
			for j := range d {
				var ma, mb float64
				for _, i := range a {
					ma += float64(x[i*d+j]) / float64(len(a))
				}
				for _, i := range b {
					mb += float64(x[i*d+j]) / float64(len(b))
				}
				s += (ma - mb) * (ma - mb)
			}
			return math.Sqrt(2 * float64(len(a)) * float64(len(b)) / float64(len(a)+len(b)) * s)
		}
		var sum, most float64
		for _, i := range a {
			for _, k := range b {
				v := math.Sqrt(clustertest.Squared(x, d, i, k))
				sum += v
				most = max(most, v)
			}
		}
		if linkage == "complete" {
			return most
		}
		return sum / float64(len(a)*len(b))
	}
	var merges []Merge
	for len(groups) > 1 {
		a, b, least := 0, 0, math.Inf(1)
		for i := range groups {
			for k := range i {
				if v := between(groups[i].rows, groups[k].rows); v < least {
					a, b, least = k, i, v
				}
			}
		}
		rows := slices.Concat(groups[a].rows, groups[b].rows)
		ids := [2]int{groups[a].id, groups[b].id}
		merges = append(merges, Merge{A: int32(min(ids[0], ids[1])), B: int32(max(ids[0], ids[1])), Distance: least, Size: len(rows)})
		groups[a] = group{n + len(merges) - 1, rows}
		groups = slices.Delete(groups, b, b+1)
	}
	return merges
}

func TestAgglomerativeAgainstLoops(t *testing.T) {
	for _, c := range []struct {
		n, d   int
		spread float64
	}{{2, 3, 1}, {3, 1, 1}, {60, 2, 3}, {70, 8, 0}, {40, 33, 2}} {
		x, _ := clustertest.Blobs(uint64(c.n), c.n, c.d, 5, c.spread)
		for i := range x { // far from the origin
			x[i] += 50
		}
		for _, linkage := range Linkages {
			want := plainAgglomerative(x, c.n, c.d, linkage)
			got, err := Agglomerative(context.Background(), x, c.n, c.d, AgglomerativeOptions{Linkage: linkage, K: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Merges) != c.n-1 {
				t.Fatalf("%d merges of %d rows", len(got.Merges), c.n)
			}
			for i, m := range got.Merges {
				w := want[i]
				if m.A != w.A || m.B != w.B || m.Size != w.Size || !testutil.WithinRelative(m.Distance, w.Distance, 4e-6) {
					t.Fatalf("n %d d %d %s merge %d: %+v, want %+v", c.n, c.d, linkage, i, m, w)
				}
			}
		}
	}
}

// What K and Threshold leave together is what merges below them joined.
func TestAgglomerativeCuts(t *testing.T) {
	const n, d = 50, 3
	x, _ := clustertest.Blobs(4, n, d, 4, 2)
	for _, linkage := range Linkages {
		for k := 1; k <= n; k++ {
			a, err := Agglomerative(context.Background(), x, n, d, AgglomerativeOptions{Linkage: linkage, K: k})
			if err != nil {
				t.Fatal(err)
			}
			want := make([]int32, n) // smallest row that each is together with
			for i := range want {
				want[i] = int32(i)
			}
			member := make([][]int32, 2*n-1)
			for i := range n {
				member[i] = []int32{int32(i)}
			}
			for i, m := range a.Merges {
				member[n+i] = slices.Concat(member[m.A], member[m.B])
				if i < n-k {
					for _, r := range member[n+i] {
						want[r] = slices.Min(member[n+i])
					}
				}
			}
			clustertest.SamePartition(t, a.Labels, want)
			clustertest.CheckNumbers(t, a.Labels, a.Sizes, k)
			if k == n {
				continue
			}
			// The merge that is not done any more is at the threshold.
			b, err := Agglomerative(context.Background(), x, n, d, AgglomerativeOptions{Linkage: linkage, Threshold: a.Merges[n-k-1].Distance})
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Sizes) != k+1 {
				t.Errorf("%s: threshold at merge %d leaves %d clusters", linkage, n-k-1, len(b.Sizes))
			}
		}
	}
}

func TestAgglomerativeEdges(t *testing.T) {
	ctx := context.Background()
	for _, linkage := range Linkages {
		a, err := Agglomerative(ctx, []float32{3, 4}, 1, 2, AgglomerativeOptions{Linkage: linkage, K: 1})
		if err != nil || len(a.Merges) != 0 || !slices.Equal(a.Labels, []int32{0}) {
			t.Errorf("%s, one row: %+v %v", linkage, a, err)
		}
		same := make([]float32, 300)
		for i := range same {
			same[i] = 7.3
		}
		a, err = Agglomerative(ctx, same, 100, 3, AgglomerativeOptions{Linkage: linkage, Threshold: 1e-9})
		if err != nil || len(a.Sizes) != 1 || a.Merges[98].Distance != 0 || a.Merges[98].Size != 100 {
			t.Errorf("%s, equal rows: %v %v", linkage, a, err)
		}
		// Duplicates join first, at distance 0.
		r := rand.New(rand.NewPCG(5, 5))
		x := make([]float32, 120)
		for i := range 60 {
			x[i] = float32(r.NormFloat64())
		}
		copy(x[60:], x[:60])
		a, err = Agglomerative(ctx, x, 40, 3, AgglomerativeOptions{Linkage: linkage, K: 20})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			if a.Labels[i] != a.Labels[i+20] || a.Merges[i].Distance != 0 {
				t.Errorf("%s: row %d and its equal are apart, or at %v", linkage, i, a.Merges[i].Distance)
			}
		}
		// Huge and tiny numbers.
		for _, unit := range []float32{1e37, 1e-38} {
			a, err = Agglomerative(ctx, []float32{unit, 1.5 * unit, 9 * unit, -7 * unit}, 4, 1, AgglomerativeOptions{Linkage: linkage, K: 3})
			if err != nil || !slices.Equal(a.Labels, []int32{0, 0, 1, 2}) || !testutil.WithinRelative(a.Merges[0].Distance, .5*float64(unit), 1e-6) {
				t.Errorf("%s, unit %v: %+v %v", linkage, unit, a, err)
			}
		}
	}
}

func TestAgglomerativeBadInput(t *testing.T) {
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		x    []float32
		n, d int
		o    AgglomerativeOptions
		want string
	}{
		"none":      {nil, 0, 1, AgglomerativeOptions{Linkage: "ward", K: 1}, "no rows"},
		"nan":       {[]float32{0, 1, 2, nan}, 2, 2, AgglomerativeOptions{Linkage: "ward", K: 1}, "row 1 column 1 is NaN"},
		"linkage":   {make([]float32, 4), 2, 2, AgglomerativeOptions{Linkage: "single", K: 1}, `linkage "single": choose one of [average complete ward]`},
		"neither":   {make([]float32, 4), 2, 2, AgglomerativeOptions{Linkage: "ward"}, "give one of"},
		"both":      {make([]float32, 4), 2, 2, AgglomerativeOptions{Linkage: "ward", K: 1, Threshold: 1}, "give one of"},
		"k":         {make([]float32, 4), 2, 2, AgglomerativeOptions{Linkage: "ward", K: 3}, "k = 3 clusters of 2 rows"},
		"threshold": {make([]float32, 4), 2, 2, AgglomerativeOptions{Linkage: "ward", Threshold: math.NaN()}, "NaN"},
		"memory":    {make([]float32, 1000), 1000, 1, AgglomerativeOptions{Linkage: "complete", K: 2, Memory: 1 << 20}, "complete linkage of 1000 rows holds 2.0 MB of distances, more than the 1.0 MB allowed: use ward"},
	} {
		if _, err := Agglomerative(context.Background(), c.x, c.n, c.d, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, linkage := range Linkages {
		if _, err := Agglomerative(stopped, []float32{1, 2, 4, 8}, 4, 1, AgglomerativeOptions{Linkage: linkage, K: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
}

func TestAgglomerativeThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, _ := clustertest.Blobs(6, 1500, 20, 8, 1)
	for _, linkage := range Linkages {
		var want *Agglomeration
		for _, threads := range []int{1, 3} {
			par.SetThreads(threads)
			a, err := Agglomerative(context.Background(), x, 1500, 20, AgglomerativeOptions{Linkage: linkage, K: 8})
			if err != nil {
				t.Fatal(err)
			}
			if want != nil && !reflect.DeepEqual(a, want) {
				t.Errorf("%s: %d threads differ", linkage, threads)
			}
			want = a
		}
	}
}
