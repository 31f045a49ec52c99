package embed_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/metric"
)

// Recall of queries against their gallery is that of plain loops, and the result names
// items of the whole set.
func TestRetrieveByRoles(t *testing.T) {
	t.Parallel()
	const n, d = 120, 5
	r := rand.New(rand.NewPCG(1, 2))
	v := data.Embeddings{X: make([]float32, n*d), N: n, D: d, Labels: make([]int32, n)}
	roles := &data.Roles{Sequence: make([]int32, n)}
	for i := range n {
		v.Labels[i] = int32(r.IntN(8))
		roles.Sequence[i] = int32(r.IntN(30)) - 10
		roles.Sequence[i] = max(roles.Sequence[i], -1)
		if i%3 != 0 {
			roles.Query = append(roles.Query, i)
		}
		if i%3 != 1 {
			roles.Gallery = append(roles.Gallery, i)
		}
		for k := range d {
			v.X[i*d+k] = float32(r.NormFloat64() + 0.4*float64(v.Labels[i]))
		}
	}
	ret, err := embed.Retrieve(context.Background(), v, roles, metric.RetrievalOptions{K: []int{1, 5}, Neighbors: 3, Intervals: metric.Intervals{Resamples: -1}})
	if err != nil {
		t.Fatal(err)
	}
	var counted []int32
	hits := map[int]float64{}
	for _, q := range roles.Query {
		var found []int
		positives := 0
		for _, g := range roles.Gallery {
			if g != q && (roles.Sequence[g] < 0 || roles.Sequence[g] != roles.Sequence[q]) {
				found = append(found, g)
				if v.Labels[g] == v.Labels[q] {
					positives++
				}
			}
		}
		if positives == 0 {
			continue
		}
		slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(apart(v, q, a), apart(v, q, b)) })
		for _, k := range []int{1, 5} {
			if slices.ContainsFunc(found[:k], func(g int) bool { return v.Labels[g] == v.Labels[q] }) {
				hits[k]++
			}
		}
		at := len(counted) * ret.NeighborCount
		for k, g := range found[:3] {
			if got := ret.Neighbors[at+k]; got != int32(g) {
				t.Errorf("neighbor %d of item %d: %d, want %d", k, q, got, g)
			}
		}
		counted = append(counted, int32(q))
	}
	if !slices.Equal(ret.Query, counted) || ret.Gallery != len(roles.Gallery) {
		t.Errorf("queries %v, want %v", ret.Query, counted)
	}
	for k, name := range map[int]string{1: "recall@1", 5: "recall@5"} {
		got, ok := ret.Scores.Get(name)
		if want := hits[k] / float64(len(counted)); !ok || math.Abs(got.Value-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got.Value, want)
		}
	}
	if _, err := embed.Retrieve(context.Background(), v, &data.Roles{Query: roles.Query, Sequence: roles.Sequence}, metric.RetrievalOptions{}); err == nil {
		t.Error("searches in no gallery")
	}
}

func apart(v data.Embeddings, a, b int) (sum float64) {
	for k := range v.D {
		x := float64(v.X[a*v.D+k]) - float64(v.X[b*v.D+k])
		sum += x * x
	}
	return sum
}
