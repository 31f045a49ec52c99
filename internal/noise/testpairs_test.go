package noise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/batch"
)

func TestTestPairs(t *testing.T) {
	y := truth(300, 7)
	pairs, err := TestPairs(y, 7, 9000, 1)
	if err != nil || len(pairs) != 9000 {
		t.Fatal(err)
	}
	seen, similar := map[[2]int32]bool{}, 0
	for _, p := range pairs {
		if p.I == p.J || p.Similar != (y[p.I] == y[p.J]) {
			t.Fatalf("%+v", p)
		}
		if p.Similar {
			similar++
		}
		k := [2]int32{min(p.I, p.J), max(p.I, p.J)}
		if seen[k] {
			t.Fatalf("%+v comes twice", p)
		}
		seen[k] = true
	}
	if similar != 4500 {
		t.Errorf("%d similar pairs", similar)
	}
	again, _ := TestPairs(y, 7, 9000, 1)
	if other, _ := TestPairs(y, 7, 9000, 2); !slices.Equal(pairs, again) || slices.Equal(pairs, other) {
		t.Error("seeds")
	}
}

// Every couple is equally likely (chi-squared, five deviations), classes being unequal.
func TestTestPairsAreUniform(t *testing.T) {
	y := []int32{0, 2, 0, 1, 0, 2, 2, 0, 1, 4, 0} // class 3 is empty, class 4 alone
	count := map[batch.Pair]float64{}
	const draws = 6000
	for seed := range uint64(draws) {
		pairs, err := TestPairs(y, 5, 4, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			count[batch.Pair{I: min(p.I, p.J), J: max(p.I, p.J), Similar: p.Similar}]++
		}
	}
	for _, similar := range []bool{true, false} {
		couples, chi := 0.0, 0.0
		for i := range y {
			for j := range i {
				if (y[i] == y[j]) == similar {
					couples++
				}
			}
		}
		want := 2 * draws / couples
		for i := range y {
			for j := range i {
				if (y[i] == y[j]) == similar {
					chi += math.Pow(count[batch.Pair{I: int32(j), J: int32(i), Similar: similar}]-want, 2) / want
				}
			}
		}
		if df := couples - 1; chi > df+5*math.Sqrt(2*df) {
			t.Errorf("similar %v: chi-squared %v of %v degrees", similar, chi, df)
		}
	}
}

// Where couples run short, all come equally often but for one.
func TestTestPairsRepeat(t *testing.T) {
	y := []int32{0, 0, 0, 1} // three couples of each kind
	for _, n := range []int{2, 6, 8, 12, 20} {
		pairs, err := TestPairs(y, 2, n, 3)
		if err != nil || len(pairs) != n {
			t.Fatal(err)
		}
		count := map[batch.Pair]int{}
		for _, p := range pairs {
			count[batch.Pair{I: min(p.I, p.J), J: max(p.I, p.J), Similar: p.Similar}]++
		}
		for p, c := range count {
			if c != n/6 && c != (n+5)/6 {
				t.Errorf("%d pairs: %+v comes %d times", n, p, c)
			}
		}
		if n >= 6 && len(count) != 6 {
			t.Errorf("%d pairs: %d couples", n, len(count))
		}
	}
}

func TestTestPairsErrors(t *testing.T) {
	for _, c := range []struct {
		y    []int32
		k, n int
		want string
	}{
		{[]int32{0, 0, 1}, 2, 3, "3 pairs; want an even number"},
		{[]int32{0, 0, 1}, 2, 0, "0 pairs"},
		{[]int32{0, 0, 1}, 2, -2, "-2 pairs"},
		{[]int32{0, 1, 2}, 3, 2, "no class has two of the 3 items"},
		{[]int32{0, 0, 0}, 3, 2, "all 3 items are of one class"},
		{[]int32{0, 3, 0}, 3, 2, "item 1 has label 3; there are 3 classes"},
		{nil, 3, 2, "no class has two of the 0 items"},
	} {
		if _, err := TestPairs(c.y, c.k, c.n, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
