package metric

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/par"
)

// Ranks by counting against sorting: classes of at most mostCounted items and no
// neighbors asked for.
func TestRetrieveByCounting(t *testing.T) {
	ks := []int{1, 2, 5, 30}
	none := Intervals{Resamples: -1}
	onLevels(t, func(level string) {
		for _, c := range []struct{ n, d, size, classes int }{
			{300, 3, 4, 30}, {400, 4, 50, 150}, {100, 1, 2, 8}, {200, 1, 400, 20}, {37, 2, 3, 2}, {2, 3, 3, 1},
		} {
			r := rand.New(rand.NewPCG(9, uint64(c.n)))
			x, l := grid(r, c.n, c.d, c.size), randomLabels(r, c.n, c.classes)
			g, gl := grid(r, 270, c.d, c.size), randomLabels(r, 270, c.classes+11)
			name := fmt.Sprintf("%s %v", level, c)
			for _, o := range []RetrievalOptions{{K: ks, Intervals: none}, {K: ks, Intervals: none, Gallery: g, GalleryLabels: gl}} {
				s, err := newSearch(x, c.n, c.d, l, &o)
				if err != nil {
					if c.n == 2 { // no item of the class in the gallery
						continue
					}
					t.Fatal(name, err)
				}
				if !s.counted() {
					t.Fatalf("%s: not counted", name)
				}
				got, err := Retrieve(context.Background(), x, c.n, c.d, l, o)
				if err != nil {
					t.Fatal(name, err)
				}
				query, values, order := plain(x, c.d, l, o.Gallery, o.GalleryLabels, false, ks)
				compare(t, got, query, values, order)
			}
		}
		r := rand.New(rand.NewPCG(7, 11))
		n, d := 150, 8
		x, l := normals(r, n, d), randomLabels(r, n, 11)
		for _, distance := range []string{Euclidean, Cosine} {
			got, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: ks, Distance: distance, Intervals: none})
			if err != nil {
				t.Fatal(err)
			}
			query, values, order := plain(x, d, l, nil, nil, distance == Cosine, ks)
			compare(t, got, query, values, order)
		}
	})
}

// Where products are exact, counting and whole rows of keys give the same values
// to the bit, over several stripes of columns and for any number of threads.
func TestCountingAgainstRows(t *testing.T) {
	defer par.SetThreads(par.Threads())
	const n, d = 2300, 5
	r := rand.New(rand.NewPCG(9, 1))
	x, l := grid(r, n, d, 6), randomLabels(r, n, 400)
	for i := range x {
		x[i]++ // no zero row
	}
	for _, distance := range []string{Euclidean, Cosine} {
		rows, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{Distance: distance, Neighbors: 1, Intervals: Intervals{Resamples: -1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2, 3, 9} {
			par.SetThreads(threads)
			last := 0
			counted, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{Distance: distance, Intervals: Intervals{Resamples: -1},
				Progress: func(done, total int) {
					if done < last || done > total || total != len(rows.Query) {
						t.Errorf("progress %d of %d after %d", done, total, last)
					}
					last = done
				}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(counted.PerQuery, rows.PerQuery) || !slices.Equal(counted.Query, rows.Query) || last != len(rows.Query) {
				t.Errorf("%s, %d threads: counting differs", distance, threads)
			}
		}
	}
}
