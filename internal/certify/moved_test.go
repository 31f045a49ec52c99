package certify

import (
	"context"
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// movedScene draws points of four classes, each around a center.
func movedScene(seed uint64, n, d int) (points, []int32) {
	r, p := rng.New(seed, "moved"), points{}
	centers := make([][]float64, 4)
	for c := range centers {
		for range d {
			centers[c] = append(centers[c], 0.2+0.6*r.Float64())
		}
	}
	var labels []int32
	for i := range n {
		var x []float32
		for k := range d {
			x = append(x, float32(min(1, max(0, centers[i%4][k]+0.05*r.NormFloat64()))))
		}
		p.x, labels = append(p.x, x), append(labels, int32(i%4))
	}
	return p, labels
}

// With the identity in one dimension intervals are exact: what is certified is what loops over
// the ends of the rows' intervals decide.
func TestMovedOfTheIdentity(t *testing.T) {
	t.Parallel()
	m := identity(t, 1)
	net, err := bound.New(m)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for seed := range uint64(6) {
		p, labels := movedScene(seed, 24, 1)
		g := embedded(t, m, p, labels)
		var queries []int
		for i := range 24 {
			queries = append(queries, i)
		}
		for _, eps := range []float64{0.002, 0.02, 0.06} {
			one, all, err := Moved(context.Background(), net, p, g, queries, eps, nil)
			if err != nil {
				t.Fatal(err)
			}
			for q := range queries {
				z := float64(p.x[q][0])
				ends := func(j int) (clean, near, far float64) {
					x := float64(p.x[j][0])
					lo, hi := max(0, x-eps), min(1, x+eps)
					return math.Abs(x - z), max(0, lo-z, z-hi), max(z-lo, hi-z)
				}
				// right under every choice of one row that moves
				stays := true
				for moved := range 24 {
					right, wrong := math.Inf(1), math.Inf(1)
					for j := range 24 {
						clean, near, far := ends(j)
						switch {
						case j == q:
						case labels[j] == labels[q] && j == moved:
							right = min(right, far)
						case labels[j] == labels[q]:
							right = min(right, clean)
						case j == moved:
							wrong = min(wrong, near)
						default:
							wrong = min(wrong, clean)
						}
					}
					if math.Abs(right-wrong) < 1e-5 {
						stays = one[q] // within rounding
						break
					}
					stays = stays && (moved == q || right < wrong)
				}
				right, wrong := math.Inf(1), math.Inf(1)
				for j := range 24 {
					if _, near, far := ends(j); j != q && labels[j] == labels[q] {
						right = min(right, far)
					} else if j != q {
						wrong = min(wrong, near)
					}
				}
				if one[q] != stays {
					t.Errorf("seed %d, eps %v, query %d: one row: %v, by loops %v", seed, eps, q, one[q], stays)
				}
				if math.Abs(right-wrong) > 1e-5 && all[q] != (right < wrong) {
					t.Errorf("seed %d, eps %v, query %d: all rows: %v, by loops %v", seed, eps, q, all[q], right < wrong)
				}
				switch {
				case all[q]:
					count["all"]++
				case one[q]:
					count["one alone"]++
				default:
					count["neither"]++
				}
			}
		}
	}
	for _, what := range []string{"all", "one alone", "neither"} {
		if count[what] < 10 {
			t.Errorf("%v: the test tests little", count)
		}
	}
}

// No random move of the images breaks what is certified, with embeddings of length 1 or not.
func TestMovedAgainstRandomMoves(t *testing.T) {
	t.Parallel()
	for _, normalize := range []bool{true, false} {
		m := model(t, nn.Spec{Name: "mlp", Units: 9, Embedding: 5, Normalize: normalize}, 6)
		net, err := bound.New(m)
		if err != nil {
			t.Fatal(err)
		}
		p, labels := movedScene(3, 32, 6)
		g := embedded(t, m, p, labels)
		var queries []int
		for i := range 32 {
			queries = append(queries, i)
		}
		r, proven := rng.New(4, "moves"), 0
		for _, eps := range []float64{0.0003, 0.003} {
			one, all, err := Moved(context.Background(), net, p, g, queries, eps, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				x := array.New(32, 1, 6, 1)
				for i := range 32 {
					for k, v := range p.x[i] {
						x.Row(i)[k] = min(1, max(0, v+float32(math.Copysign(eps, r.Float64()-0.5))))
					}
				}
				z := m.Embed(x, nn.Eval)
				for q := range queries {
					best, label := math.Inf(1), int32(-1)
					for j := range 32 {
						far := 0.0
						for k, v := range z.Row(j) {
							far += math.Pow(float64(v)-float64(g.X.Row(q)[k]), 2)
						}
						if j != q && far < best {
							best, label = far, labels[j]
						}
					}
					if all[q] && label != labels[q] {
						t.Fatalf("normalize %v, eps %v: query %d is broken", normalize, eps, q)
					}
				}
			}
			for q := range queries {
				if all[q] {
					proven++
				}
				if all[q] && !one[q] {
					t.Errorf("query %d stays right where all move, and not where one does", q)
				}
			}
		}
		if proven < 10 {
			t.Errorf("normalize %v: %d queries certified: the test tests little", normalize, proven)
		}
	}
}
