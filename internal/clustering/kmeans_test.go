package clustering

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/cluster/solve"
	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// blur is n points of no groups on a grid of whole numbers, so that many are equally
// near to two centers.
func blur(n, d, wide int) data.Embeddings {
	r := rng.New(3, "blur")
	v := data.Embeddings{X: make([]float32, n*d), N: n, D: d}
	for i := range v.X {
		v.X[i] = float32(1 + r.IntN(wide))
	}
	return v
}

// Labels, sizes and inertia of k-means are those of the centers that are written:
// assigning the same items to them changes nothing.
func TestKMeansIsThatOfTheWrittenCenters(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    data.Embeddings
		o    record.KMeansOptions
		k    int
	}{
		{"all", groups(400, 6, 5, .5), record.KMeansOptions{}, 9},
		{"batches", groups(900, 6, 5, .5), record.KMeansOptions{MiniBatch: 30}, 9},
		{"batches of directions", groups(900, 6, 5, .5), record.KMeansOptions{MiniBatch: 30, Spherical: true}, 9},
		{"ties", blur(300, 2, 6), record.KMeansOptions{}, 12},
		{"ties in batches", blur(300, 2, 6), record.KMeansOptions{MiniBatch: 20}, 12},
		{"more clusters than distinct items", blur(50, 1, 4), record.KMeansOptions{}, 9},
	} {
		o := record.ClusterOptions{Method: solve.KMeans, K: tc.k, NInit: 2, KMeans: tc.o, Maps: record.MapOptions{Kind: "none"}}
		c := clusterOf(t, tc.v, o)
		m, doc := c.Model, c.Doc
		x := tc.v.X
		if tc.o.Spherical {
			x = nil
			for i := range tc.v.N {
				row, norm := tc.v.X[i*tc.v.D:(i+1)*tc.v.D], 0.0
				for _, a := range row {
					norm += float64(a) * float64(a)
				}
				for _, a := range row {
					x = append(x, float32(float64(a)/math.Sqrt(norm)))
				}
			}
		}
		inertia, sizes := 0.0, make([]int, m.Count)
		for i := range tc.v.N {
			best, at := math.Inf(1), int32(-1)
			for k := range m.Count {
				sum := 0.0
				for a := range m.Dim {
					e := float64(x[i*m.Dim+a]) - float64(m.Center[k*m.Dim+a])
					sum += e * e
				}
				if sum < best {
					best, at = sum, int32(k)
				}
			}
			inertia += best
			sizes[at]++
			if doc.Labels[i] != at {
				t.Errorf("%s: item %d has the label %d, its nearest center is %d", tc.name, i, doc.Labels[i], at)
			}
		}
		if math.Abs(inertia-*doc.Objective) > 1e-9*inertia+1e-12 {
			t.Errorf("%s: inertia %v, want %v", tc.name, *doc.Objective, inertia)
		}
		if !slices.Equal(sizes, doc.Sizes) || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) || doc.Clusters != m.Count {
			t.Errorf("%s: %d clusters of %v, want %v", tc.name, doc.Clusters, doc.Sizes, sizes)
		}
		again, err := document(context.Background(), m, "", tc.v, record.Source{})
		if err != nil || !slices.Equal(again.Labels, doc.Labels) {
			t.Errorf("%s: assigned anew, labels change (%v)", tc.name, err)
		}
	}
}
