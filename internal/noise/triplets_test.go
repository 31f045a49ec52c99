package noise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/record"
	"tercet/internal/testutil"
)

// The weights found over many triplets are those of the formulas, within five standard
// deviations of the triplets and of the labels they are drawn by.
func TestTripletsHaveTheirWeights(t *testing.T) {
	const n, drawn = 60000, 200000
	for _, c := range []struct {
		k         int
		pln, flip float64
	}{{10, 0, 0}, {10, 0.2, 0}, {10, 0.4, 0}, {2, 0.4, 0}, {10, 0, 0.2}, {2, 0, 0.5}, {3, 0, 1}} {
		q, _ := SLNFromEffective(c.pln / 2)
		y := inTurn(n, c.k)
		seen, _ := flip(t, y, c.k, SLNRate(q, c.k), 8)
		triplets, r, err := Triplets(y, seen, c.flip, TripletOptions{Classes: c.k, Count: drawn, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		want := SLNTriplets(q, c.k)
		if c.flip > 0 {
			want = OrderFlips(c.flip)
		}
		nearWeights(t, "weights", r.Weights, want, 5*(0.5/math.Sqrt(drawn)+0.5/math.Sqrt(n)))
		t.Logf("%d classes, q~ = %v, flips %v: %+v", c.k, c.pln, c.flip, r.Weights)
		var found record.TripletWeights
		flipped := 0
		for _, x := range triplets {
			p, m := y[x.P] == y[x.A], y[x.N] != y[x.A]
			switch {
			case p && m:
				found.W11 += 1. / drawn
			case p:
				found.W10 += 1. / drawn
			case m:
				found.W01 += 1. / drawn
			default:
				found.W00 += 1. / drawn
			}
			if seen[x.P] != seen[x.A] {
				flipped++
			}
			if x.A == x.P || x.A == x.N || (seen[x.P] == seen[x.A]) == (seen[x.N] == seen[x.A]) {
				t.Fatalf("%+v", x)
			}
		}
		found.Beta, found.Gamma = found.W11+found.W10, found.W11+found.W01
		nearWeights(t, "report", r.Weights, found, 1e-9)
		testutil.Near(t, "wrong", r.Wrong, 1-found.W11, 1e-9)
		if r.Flipped != flipped || r.Found != float64(flipped)/drawn || r.Wanted != c.flip || r.Triplets != drawn || r.Anchors != n {
			t.Errorf("%+v, %d flipped", r, flipped)
		}
		testutil.Near(t, "flips", r.Found, c.flip, 5*math.Sqrt(c.flip*(1-c.flip)/drawn))
		if nr := OfTriplets(r); nr != (record.Noise{Kind: "triplet-flip", Wanted: c.flip, Found: r.Found, Flipped: flipped, Items: drawn}) {
			t.Errorf("%+v", nr)
		}
	}
}

// Every anchor, positive and negative of a small set as often as the rule says
// (chi-squared, five deviations); an item alone in its class is a negative only.
func TestTripletsAreUniform(t *testing.T) {
	y := []int32{2, 0, 2, 1, 0, 4, 2}
	const n = 100000
	triplets, r, err := Triplets(y, y, 0, TripletOptions{Classes: 5, Count: n, Seed: 1})
	if err != nil || r.Anchors != 5 {
		t.Fatal(r, err)
	}
	count := map[batch.Triplet]float64{}
	for _, x := range triplets {
		count[x]++
	}
	size := map[int32]float64{0: 2, 1: 1, 2: 3, 4: 1}
	chi, cells := 0.0, 0.0
	for a := range y {
		for p := range y {
			for m := range y {
				x := batch.Triplet{A: int32(a), P: int32(p), N: int32(m)}
				if a == p || y[a] != y[p] || y[m] == y[a] {
					if count[x] > 0 {
						t.Fatalf("%+v", x)
					}
					continue
				}
				want := n / 5. / (size[y[a]] - 1) / (7 - size[y[a]])
				chi += math.Pow(count[x]-want, 2) / want
				cells++
			}
		}
	}
	if df := cells - 1; chi > df+5*math.Sqrt(2*df) {
		t.Errorf("chi-squared %v of %v degrees", chi, df)
	}
}

func TestStreamsOfTriplets(t *testing.T) {
	y := inTurn(100, 4)
	low, _, _ := Triplets(y, y, 0.2, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	high, _, _ := Triplets(y, y, 0.7, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	again, _, _ := Triplets(y, y, 0.2, TripletOptions{Classes: 4, Count: 500, Seed: 1})
	if !slices.Equal(low, again) {
		t.Error("one seed gives two answers")
	}
	for i := range low {
		if low[i].A != high[i].A || low[i] != high[i] && (low[i].P != high[i].N || y[low[i].P] != y[low[i].A]) {
			t.Fatalf("triplet %d: flips do not nest: %+v, %+v", i, low[i], high[i])
		}
	}
	for _, x := range [][2]uint64{{2, 0}, {1, 1}} {
		if other, _, _ := Triplets(y, y, 0.2, TripletOptions{Classes: 4, Count: 500, Seed: x[0], Draw: x[1]}); slices.Equal(low, other) {
			t.Errorf("seed and draw %v: the same triplets", x)
		}
	}
}

func TestTripletErrors(t *testing.T) {
	y := []int32{0, 0, 1, 1}
	for _, c := range []struct {
		truth, seen []int32
		k, n        int
		flip        float64
		want        string
	}{
		{y, y, 2, 0, 0, "0 triplets; want 1 or more"},
		{y, y, 2, 5, 1.5, "triplet flip rate is 1.5"},
		{y, y, 2, 5, math.NaN(), "triplet flip rate is NaN"},
		{y, y[:3], 2, 5, 0, "3 labels with noise, 4 without"},
		{y, y, 1, 5, 0, "truth: item 2 has label 1; there are 1 classes"},
		{make([]int32, 4), y, 1, 5, 0, "labels with noise: item 2 has label 1"},
		{y, []int32{0, 1, 2, 3}, 4, 5, 0, "no class has two of the 4 items"},
		{y, []int32{1, 1, 1, 1}, 2, 5, 0, "all 4 items are of class 1"},
		{nil, nil, 2, 5, 0, "no class has two of the 0 items"},
	} {
		if _, _, err := Triplets(c.truth, c.seen, c.flip, TripletOptions{Classes: c.k, Count: c.n}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: %v", c.want, err)
		}
	}
}
