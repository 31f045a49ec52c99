package retrieval

import (
	"math"
	"testing"

	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// Embeddings that scatter around a row, some of them far away, against loops: rows in
// clusters, some rows twice, the query's own row left out.
func TestAroundAgainstLoops(t *testing.T) {
	t.Parallel()
	for _, size := range []float64{0, 0.02, 0.3, 3} {
		const n, d, query = 600, 5, 12
		r := rng.New(uint64(1000*size), "around")
		x, labels := array.New(n, d), make([]int32, n)
		for i := range n {
			labels[i] = int32(i % 6)
			for k := range x.Row(i) {
				x.Row(i)[k] = float32(float64((i+k)%6) + 0.4*r.NormFloat64())
			}
			if i > 12 && i%7 == 0 {
				copy(x.Row(i), x.Row(i-6))
			}
		}
		a, near, beyond := NewAround(mustGallery(t, x, labels), query), 0, 0
		for round := range 12 {
			z := array.New(40, d)
			for i := range z.Rows() {
				s := size
				if round > 0 && i%8 == 0 {
					s = 20*size + 0.5
				}
				for k := range z.Row(i) {
					z.Row(i)[k] = x.Row(query)[k] + float32(s*r.NormFloat64())
				}
			}
			if round == 3 {
				z.Row(7)[2] = float32(math.NaN())
				z.Row(9)[0] = 1e20
			}
			before := array.New(z.Shape...)
			copy(before.Data, z.Data)
			for i, got := range a.Find(z) {
				want := retrievaltest.Extreme(x, before.Row(i), 1, func(j int) bool { return j != query })
				if round == 3 && i == 7 {
					want = -1
				}
				if round == 3 && i == 9 {
					continue // too far for float32: any row
				}
				if int(got) != want {
					t.Fatalf("size %v, round %d, embedding %d: %d, want %d", size, round, i, got, want)
				}
				if round > 0 && a.near != nil && i != 7 && i != 9 {
					if _, square := nearestOf(a, before.Row(i)); math.Sqrt(square)+a.distance(before.Row(i)) < a.limit {
						near++
					} else {
						beyond++
					}
				}
			}
		}
		if size > 0 && size < 1 && (near < 100 || beyond < 10) {
			t.Errorf("size %v: near rows decided %d times, all rows %d", size, near, beyond)
		}
		if size == 3 && a.near != nil {
			t.Errorf("size %v: %d of %d rows are near", size, len(a.rows), n)
		}
	}
}

func nearestOf(a *Around, z []float32) (best int, square float64) {
	square = math.Inf(1)
	for i, j := range a.rows {
		if s := a.g.Squared(z, int(j)); s < square {
			best, square = i, s
		}
	}
	return best, square
}
