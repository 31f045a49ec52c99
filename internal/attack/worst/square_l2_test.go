package worst

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/rng"
)

// Windows in l2 have odd sides of at least 3, as far as the image allows.
func TestOddSides(t *testing.T) {
	t.Parallel()
	var got []int
	for _, i := range []int{1, 11, 51, 201, 501, 1001, 8001} {
		got = append(got, oddSide(i, 28, 28))
	}
	if got = append(got, oddSide(1, 4, 9), oddSide(1, 2, 2), oddSide(1, 28, 28)); !slices.Equal(got, []int{25, 19, 13, 9, 7, 5, 3, 3, 1, 25}) {
		t.Errorf("sides %v", got)
	}
}

// The bump of side 3 by hand: the upper row has the middle at its second place, where both
// squares count, 1 + 1/4, and 1/4 beside it; of the two lower rows the middle is the second
// one, and the first has 1/4 at all places.
func TestBump(t *testing.T) {
	t.Parallel()
	want := []float64{0.25, 1.25, 0.25, -0.25, -0.25, -0.25, -0.25, -1.25, -0.25}
	scale(want, 1)
	for _, turned := range []bool{false, true} {
		got := make([]float64, 9)
		bump(3, turned, got)
		for k := range got {
			at := k
			if turned {
				at = k%3*3 + k/3
			}
			if math.Abs(got[at]-want[k]) > 1e-12 {
				t.Fatalf("turned %t: %v, want %v", turned, got, want)
			}
		}
	}
}

// Square in l2 stays in the ball and in [0, 1], and without a gradient finds nearly all
// queries that the closed form of a linear embedder says can be broken.
func TestSquareL2OnALinearEmbedder(t *testing.T) {
	t.Parallel()
	x := newTriedOf(3, 40, 2, 3, 6, 6, 1)
	x.m.scale = 0
	o := Options{Norm: adversary.L2, Eps: 0.35, Squares: 1500, members: only(Clean, "square")}
	r := x.run(t, o)
	breakable, broken := 0, 0
	for p, q := range r.Queries {
		low, by := x.lowest(q, "l2", o.Eps), r.Galleries[0].By[p]
		if low < -1e-5 && by != 1 {
			breakable++
		}
		if by == 2 {
			if broken++; low > 1e-5 {
				t.Errorf("query %d cannot be broken: %v", q, low)
			}
		}
		if !o.inside(x.s.x.Row(q), r.Galleries[0].Images.Row(p)) {
			t.Errorf("query %d: its image is %v away", q, o.apart(x.s.x.Row(q), r.Galleries[0].Images.Row(p)))
		}
	}
	t.Logf("%d of %d", broken, breakable)
	if breakable < 10 || breakable > 35 || float64(broken) < 0.9*float64(breakable) {
		t.Errorf("%d of %d queries broken", broken, breakable)
	}
}

// Every proposal has the length of the radius but for what [0, 1] cuts off.
func TestProposalsL2(t *testing.T) {
	t.Parallel()
	x := newTriedOf(4, 4, 2, 3, 7, 5, 3)
	for k := range x.s.x.Data {
		x.s.x.Data[k] = 0.5 // nothing is cut off
	}
	r := &runner{o: Options{Norm: adversary.L2, Eps: 0.25}}
	b := newBatch(1, 3, 7, 5, 3)
	b.resize(1)
	copy(b.x.Data, x.s.x.Row(0))
	s := &squares{r: r, w: b, h: 7, wide: 5, c: 3, streams: make([]rng.Stream, 1)}
	copy(b.adv.Data, b.x.Data)
	s.streams[0].Reset(1, "test")
	out := make([]float32, 7*5*3)
	for n := range 200 {
		s.propose(n, 0, out)
		if far := r.o.apart(b.x.Row(0), out); math.Abs(far-0.25) > 1e-6 {
			t.Fatalf("proposal %d is %v away", n, far)
		}
		copy(b.adv.Row(0), out)
	}
}
