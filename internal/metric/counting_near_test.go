package metric

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/par"
)

// Counting by rows of two bytes gives the values of counting by products, to the bit: with
// ties, with rows of unlike lengths, and where most blocks have too many near pairs.
func TestCountingNear(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(9, 21))
	const n = 1400
	classes := func(d int) ([]float32, []int32) {
		x, middle, l := normals(r, n, d), normals(r, n/7, d), make([]int32, n)
		for i := range x {
			l[i/d] = int32(i / d % (n / 7))
			x[i] += 2 * middle[int(l[i/d])*d+i%d]
		}
		return x, l
	}
	far, farLabels := classes(40)
	unlike, unlikeLabels := classes(9)
	for i := range unlike {
		unlike[i] *= float32(i/9%4*i/9%4 + 1)
	}
	ties := grid(r, n, 8, 3)
	for i := range ties {
		ties[i]++ // no zero row
	}
	for _, c := range []struct {
		name   string
		d      int
		x      []float32
		labels []int32
		loose  bool
	}{
		{"classes", 40, far, farLabels, false},
		{"unlike lengths", 9, unlike, unlikeLabels, false},
		{"ties", 8, ties, randomLabels(r, n, 200), true},
		{"random", 33, normals(r, n, 33), randomLabels(r, n, 200), true},
	} {
		for _, distance := range []string{Euclidean, Cosine} {
			for _, gallery := range []bool{false, true} {
				o := RetrievalOptions{Distance: distance, K: []int{1, 3}}
				x, l := c.x, c.labels
				if gallery {
					x, l, o.Gallery, o.GalleryLabels = c.x[:200*c.d], c.labels[:200], c.x[100*c.d:], c.labels[100:]
				}
				onLevels(t, func(level string) {
					var want []float64
					for _, fine := range []bool{false, true} {
						s, err := newSearch(x, len(l), c.d, l, &o)
						if err != nil {
							t.Fatal(err)
						}
						s.fine = fine
						s.values = make([]float64, len(s.query)*len(s.scores))
						counted, err := s.runCounting(ctx, nil)
						if err != nil {
							t.Fatal(err)
						}
						if !fine {
							want = s.values
							continue
						}
						name := fmt.Sprintf("%s, %s, gallery %t, level %s", c.name, distance, gallery, level)
						if !slices.Equal(s.values, want) {
							t.Errorf("%s: values differ", name)
						}
						tried, loose := counted.sweep.tried.Load(), counted.sweep.loose.Load()
						if tried == 0 || !c.loose && 4*loose > tried || c.loose && distance == Euclidean && loose == 0 {
							t.Errorf("%s: of %d blocks %d had too many near pairs", name, tried, loose)
						}
					}
				})
			}
		}
	}
}

// The same of vectors in their file, in parts of the gallery, for any number of threads.
func TestStoredNear(t *testing.T) {
	defer par.SetThreads(par.Threads())
	ctx := context.Background()
	r := rand.New(rand.NewPCG(9, 22))
	const n, d = 900, 12
	x, l := normals(r, n, d), randomLabels(r, n, 150)
	for i := range x {
		x[i] += float32(l[i/d] * int32(i%d+1) % 7)
	}
	copy(x[5*d:6*d], x[700*d:]) // a tie
	for _, distance := range []string{Euclidean, Cosine} {
		for _, queries := range []bool{false, true} {
			o := StoredOptions{K: []int{1, 2}, Distance: distance, Memory: 1 << 18}
			if queries {
				o.Queries, o.QueryLabels = held{x[:300*d], d}, l[:300]
			}
			var want []float64
			for _, fine := range []bool{false, true} {
				for _, threads := range []int{1, 3} {
					par.SetThreads(threads)
					s, err := NewStored(ctx, held{x, d}, l, o)
					if err != nil {
						t.Fatal(err)
					}
					s.s.fine = fine
					values := storedValues(t, s, 3)
					if want == nil {
						want = values
					}
					if !slices.Equal(values, want) {
						t.Errorf("%s, queries %t, fine %t, %d threads: values differ", distance, queries, fine, threads)
					}
				}
			}
		}
	}
}
