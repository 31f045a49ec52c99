package noise

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// Of two classes of unequal size, triplets have the appendix's densities whatever the sizes:
// an anchor of the first class with probability pi, its positive right with beta, its
// negative with gamma, all three independent (equation 1).
func TestTripletsOfTheAppendix(t *testing.T) {
	t.Parallel()
	const n, pi, beta, gamma = 60000, 0.8, 0.7, 0.9
	y := make([]int32, 900)
	for i := range y {
		if i%3 == 0 {
			y[i] = 1
		}
	}
	triplets, r, err := PairTriplets(y, 1-beta, 1-gamma, TripletOptions{Classes: 2, Count: n, Prior: new(pi), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var found [2][2][2]float64
	for _, x := range triplets {
		found[y[x.A]][is(y[x.P] == y[x.A])][is(y[x.N] != y[x.A])] += 1. / n
	}
	for class, p := range []float64{pi, 1 - pi} {
		for right, b := range []float64{1 - beta, beta} {
			for apart, g := range []float64{1 - gamma, gamma} {
				want := p * b * g
				testutil.Near(t, "share", found[class][right][apart], want, 5*math.Sqrt(want*(1-want)/n))
			}
		}
	}
	testutil.Near(t, "realized rate", r.Found, (2-beta-gamma)/2, 5*0.5/math.Sqrt(2*n))
	for _, certain := range []float64{0, 1} {
		triplets, _, err := Triplets(y, y, 0, TripletOptions{Classes: 2, Count: 100, Prior: &certain})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range triplets {
			if float64(y[x.A]) != 1-certain {
				t.Fatalf("prior %v: an anchor of class %d", certain, y[x.A])
			}
		}
	}
}

// A prior asks for two classes with a positive for each anchor.
func TestPriorErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		y       []int32
		classes int
		prior   float64
		want    string
	}{
		{[]int32{0, 0, 1, 1, 2, 2}, 3, 0.5, "there are 3: set data.classes: 2"},
		{[]int32{0, 0, 1}, 2, 0.5, "class 1 has 1 item"},
		{[]int32{0, 0, 1, 1}, 2, 1.5, "prior is 1.5"},
	} {
		_, _, err := Triplets(c.y, c.y, 0, TripletOptions{Classes: c.classes, Count: 3, Prior: &c.prior})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, _, err := Triplets([]int32{0, 0, 1}, []int32{0, 0, 1}, 0, TripletOptions{Classes: 2, Count: 3, Prior: new(1.0)}); err != nil {
		t.Errorf("no anchor of the single item is asked for: %v", err)
	}
}
