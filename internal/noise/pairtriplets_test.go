package noise

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/testutil"
)

// Positives and negatives are wrong independently with probability p: the shares of
// each kind are products, within five standard deviations.
func TestPairTripletsHaveTheirWeights(t *testing.T) {
	const n, drawn = 6000, 100000
	for _, c := range []struct {
		k int
		p float64
	}{{10, 0.1}, {2, 0.2}, {10, 0.5}, {3, 0}} {
		y := inTurn(n, c.k)
		triplets, r, err := PairTriplets(y, c.p, c.p, TripletOptions{Classes: c.k, Count: drawn, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		var found record.TripletWeights
		wrong := 0
		for _, x := range triplets {
			p, m := y[x.P] == y[x.A], y[x.N] != y[x.A]
			wrong += is(!p) + is(!m)
			for _, w := range []struct {
				of bool
				to *float64
			}{{p && m, &found.W11}, {p && !m, &found.W10}, {!p && m, &found.W01}, {!p && !m, &found.W00}, {p, &found.Beta}, {m, &found.Gamma}} {
				if w.of {
					*w.to += 1. / drawn
				}
			}
			if x.A == x.P || x.A == x.N || x.P == x.N {
				t.Fatalf("an item twice: %+v", x)
			}
		}
		q := 1 - c.p
		nearWeights(t, "weights", found, record.TripletWeights{Beta: q, Gamma: q, W11: q * q, W10: q * c.p, W01: q * c.p, W00: c.p * c.p}, 5*0.5/math.Sqrt(drawn))
		nearWeights(t, "report", r.Weights, found, 1e-9)
		testutil.Near(t, "wrong", r.Wrong, 1-found.W11, 1e-9)
		if r.Kind != "pln" || r.Wanted != c.p || r.Flipped != wrong || r.Found != float64(wrong)/(2*drawn) || r.Anchors != n {
			t.Errorf("%+v, %d wrong", r, wrong)
		}
		want := record.Noise{Kind: "pln", Wanted: c.p, Found: r.Found, Flipped: wrong, Items: 2 * drawn, Q: 2 * c.p, Effective: c.p, EffectiveFound: r.Found}
		if got := OfTriplets(r); got != want {
			t.Errorf("%+v", got)
		}
	}
}

// What takes the place of a positive or a negative is any item of the other kind, as
// often as any other (chi-squared, five deviations). At p = 1/2 every triplet of
// different items is as likely as its classes are: worked out by counting.
func TestPairTripletsAreUniform(t *testing.T) {
	y := []int32{2, 0, 2, 1, 0, 1, 2, 0, 1, 1}
	const n = 200000
	triplets, _, err := PairTriplets(y, 0.5, 0.5, TripletOptions{Classes: 3, Count: n, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	count := map[batch.Triplet]float64{}
	for _, x := range triplets {
		count[x]++
	}
	size := map[int32]float64{}
	for _, c := range y {
		size[c]++
	}
	chi, cells := 0.0, 0.0
	for a := range y {
		own, others := size[y[a]]-1, 10-size[y[a]]
		for p := range y {
			for m := range y {
				x := batch.Triplet{A: int32(a), P: int32(p), N: int32(m)}
				if p == a || m == a || p == m {
					if count[x] > 0 {
						t.Fatalf("%+v", x)
					}
					continue
				}
				// A quarter each: both right, one wrong, both wrong. Of two items of one
				// kind the second is not the first.
				want := n / 10. / 4
				switch same, apart := y[p] == y[a], y[m] != y[a]; {
				case same == apart:
					want /= own * others
				case same:
					want /= own * (own - 1)
				default:
					want /= others * (others - 1)
				}
				chi += math.Pow(count[x]-want, 2) / want
				cells++
			}
		}
	}
	if df := cells - 1; chi > df+5*math.Sqrt(2*df) || cells != 720 {
		t.Errorf("chi-squared %v of %v degrees", chi, df)
	}
}

func TestStreamsOfPairTriplets(t *testing.T) {
	y := inTurn(100, 4)
	clean, _, _ := Triplets(y, y, 0, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	none, _, _ := PairTriplets(y, 0, 0, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	low, _, _ := PairTriplets(y, 0.1, 0.1, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	high, _, _ := PairTriplets(y, 0.4, 0.4, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	more := 0
	for i, c := range clean {
		if none[i] != c {
			t.Fatal("other triplets without noise")
		}
		if low[i].A != c.A || high[i].A != c.A || low[i].P != c.P && low[i].P != high[i].P || low[i].N != c.N && low[i].N != high[i].N {
			t.Fatalf("triplet %d: noise does not nest: %+v, %+v, %+v", i, c, low[i], high[i])
		}
		more += is(high[i] != low[i])
	}
	if more < 100 {
		t.Errorf("more noise changes %d of 500", more)
	}
	if other, _, _ := PairTriplets(y, 0.1, 0.1, TripletOptions{Classes: 4, Count: 500, Seed: 1, Draw: 1}); other[0] == low[0] && other[1] == low[1] && other[2] == low[2] {
		t.Error("another draw gives the same triplets")
	}
}

func TestPairTripletErrors(t *testing.T) {
	for _, c := range []struct {
		y    []int32
		k    int
		p    float64
		want string
	}{
		{[]int32{0, 0, 0, 1, 1, 1}, 2, 0.6, "effective noise is 0.6, want a number from 0 to 0.5"},
		{[]int32{0, 0, 0, 1, 1, 1}, 2, math.NaN(), "effective noise is NaN"},
		{[]int32{0, 0, 1, 1, 1}, 2, 0.1, "class 0 has two items: a wrong negative of it would be the positive"},
		{[]int32{0, 0, 0, 1}, 2, 0.1, "one item is not of class 0: a wrong positive would be the negative"},
		{[]int32{0, 1, 2}, 3, 0.1, "no class has two of the 3 items"},
	} {
		if _, _, err := PairTriplets(c.y, c.p, c.p, TripletOptions{Classes: c.k, Count: 5}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
	for _, y := range [][]int32{{0, 0, 1, 1, 1}, {0, 0, 0, 1}} { // without noise they do
		if _, _, err := PairTriplets(y, 0, 0, TripletOptions{Classes: 2, Count: 5}); err != nil {
			t.Error(err)
		}
	}
	// A class of one item is no anchor's.
	if _, _, err := PairTriplets([]int32{0, 0, 0, 1, 2}, 0.1, 0.1, TripletOptions{Classes: 3, Count: 5}); err != nil {
		t.Error(err)
	}
}
