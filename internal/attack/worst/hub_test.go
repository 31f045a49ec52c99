package worst

import (
	"math"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

// What a hub is said to be nearest to is what loops over the images find, for the image as it
// is and for the one that was moved, which lies in the ball.
func TestHubAgainstLoops(t *testing.T) {
	t.Parallel()
	gains := 0
	for seed := range uint64(4) {
		x := newTried(seed, 60, 3, 3)
		o := Options{Norm: adversary.Linf, Eps: 0.1, Steps: 30}
		if err := o.fill(); err != nil {
			t.Fatal(err)
		}
		r := &runner{ctx: t.Context(), o: o, model: x.m, verifier: x.m, images: x.s, gallery: x.g, pgd: o.pgd()}
		if _, err := r.begin(); err != nil {
			t.Fatal(err)
		}
		r.field = newWhole(x.g, 1)
		h, err := r.hub()
		if err != nil {
			t.Fatal(err)
		}
		count := func(z []float32) (n int) {
			for q := range 60 {
				far := func(a []float32) (square float64) {
					for k, v := range x.g.X.Row(q) {
						square += math.Pow(float64(a[k])-float64(v), 2)
					}
					return square
				}
				best := math.Inf(1)
				for j := range 60 {
					if j != q && j != h.Image {
						best = min(best, far(x.g.X.Row(j)))
					}
				}
				if q != h.Image && far(z) < best {
					n++
				}
			}
			return n
		}
		at := 0
		for r.sub.items[at] != h.Image {
			at++
		}
		moved := r.sub.adv.Slice(at, at+1)
		z := (&linear{w: x.m.w, b: x.m.b}).Embed(&array.Array{Data: moved.Data, Shape: moved.Shape}, nn.Eval)
		if !o.inside(x.s.x.Row(h.Image), moved.Data) {
			t.Errorf("seed %d: the image is not in the ball", seed)
		}
		clean := count(x.g.X.Row(h.Image))
		if h.Queries != 60 || h.Clean != clean || h.Moved != max(clean, count(z.Row(0))) {
			t.Errorf("seed %d: %+v; by loops %d, moved %d", seed, h, clean, count(z.Row(0)))
		}
		if h.Moved > h.Clean {
			gains++
		}
	}
	if gains < 3 {
		t.Errorf("%d of 4 images gain", gains)
	}
}
