package worst

import (
	"math"
	"testing"

	"tercet/internal/engine/adversary"
)

// On a linear embedder of one dimension an image reaches every embedding of an interval, so
// which queries are wrong where one image of the gallery or all move is known exactly.
func TestMovedGalleryInOneDimension(t *testing.T) {
	t.Parallel()
	for _, size := range []int{2, 3} {
		count := map[string]int{}
		for seed := range uint64(8) {
			checkMoved(t, newTried(seed, 3*size, size, 1), size, count)
		}
		for _, what := range []string{"one", "all alone", "neither"} {
			if count[what] < 5 {
				t.Errorf("classes of %d: %v: the test tests little", size, count)
			}
		}
	}
}

func checkMoved(t *testing.T, x tried, size int, count map[string]int) {
	for _, eps := range []float64{0.003, 0.01, 0.03} {
		r := x.run(t, Options{Norm: adversary.Linf, Eps: eps, Steps: 60, Squares: 1, Moves: true, members: only(Clean)})
		for p, q := range r.Queries {
			z := float64(x.g.X.Row(q)[0])
			near := func(j int) (least, most float64) { // distances that row j can have
				a := x.m.w[0]
				negative := make([]float64, len(a))
				for k, v := range a {
					negative[k] = -v
				}
				low := x.m.b[0] + leastProduct(a, x.s.x.Row(j), "linf", eps)
				high := x.m.b[0] - leastProduct(negative, x.s.x.Row(j), "linf", eps)
				return max(0, low-z, z-high), max(z-low, high-z)
			}
			clean := func(j int) float64 { return math.Abs(float64(x.g.X.Row(j)[0]) - z) }
			// The nearest right row, clean and pushed, and without each one that is pushed.
			right, pushed, wrong, pulled := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
			for j := range x.g.Len() {
				least, most := near(j)
				switch {
				case j/size != q/size:
					wrong, pulled = min(wrong, clean(j)), min(pulled, least)
				case j != q:
					right, pushed = min(right, clean(j)), min(pushed, most)
				}
			}
			one, safe := pulled < right, min(math.Abs(pulled-right), math.Abs(wrong-right))
			for p := range x.g.Len() {
				if p/size != q/size || p == q {
					continue
				}
				_, first := near(p)
				for other := range x.g.Len() {
					if other/size == q/size && other != q && other != p {
						first = min(first, clean(other))
					}
				}
				one, safe = one || wrong < first, min(safe, math.Abs(wrong-first))
			}
			all := pulled < pushed
			safe = min(safe, math.Abs(pulled-pushed))
			if safe < 1e-5 {
				continue // within rounding of a decision
			}
			if r.Moved.One[p] != one || r.Moved.All[p] != all {
				t.Errorf("classes of %d, eps %v, query %d: one %t, want %t; all %t, want %t", size, eps, q, r.Moved.One[p], one, r.Moved.All[p], all)
			}
			for what, is := range map[string]bool{"one": one, "all": all, "neither": !all, "all alone": all && !one} {
				if is {
					count[what]++
				}
			}
		}
	}
}
