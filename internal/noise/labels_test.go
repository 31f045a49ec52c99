package noise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/record"
)

// truth is n labels of k classes, of unequal sizes.
func truth(n, k int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32((i*i + i/3) % k)
	}
	return out
}

func flip(t *testing.T, y []int32, k int, rate float64, seed uint64) ([]int32, record.Noise) {
	t.Helper()
	before := slices.Clone(y)
	out, r, err := Labels(y, k, rate, seed)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, y) {
		t.Fatal("the truth was changed")
	}
	differ := 0
	for i := range y {
		if out[i] < 0 || int(out[i]) >= k {
			t.Fatalf("item %d has label %d of %d", i, out[i], k)
		}
		if out[i] != y[i] {
			differ++
		}
	}
	if r.Kind != "sln" || r.Flipped != differ || r.Items != len(y) || r.Wanted != rate || len(y) > 0 && r.Found != float64(differ)/float64(len(y)) {
		t.Fatalf("report %+v, %d labels differ", r, differ)
	}
	return out, r
}

// The rate within five standard deviations, and for each class all others equally
// often (chi-squared with k(k-2) degrees of freedom, five deviations).
func TestSymmetric(t *testing.T) {
	const n = 40000
	for _, k := range []int{2, 3, 10, 100} {
		for _, rate := range []float64{0.05, 0.2, 0.5, 0.95} {
			y := truth(n, k)
			out, r := flip(t, y, k, rate, 3)
			if sd := math.Sqrt(rate * (1 - rate) / n); math.Abs(r.Found-rate) > 5*sd {
				t.Errorf("%d classes, rate %v: found %v", k, rate, r.Found)
			}
			if k > 10 {
				continue // too few of each pair
			}
			size, count := make([]float64, k), make([]float64, k*k)
			for i := range y {
				if out[i] != y[i] {
					size[y[i]]++
					count[int(y[i])*k+int(out[i])]++
				}
			}
			chi := 0.0
			for a := range k {
				for b := range k {
					if want := size[a] / float64(k-1); a != b && want > 0 {
						chi += math.Pow(count[a*k+b]-want, 2) / want
					}
				}
			}
			if df := float64(k * (k - 2)); chi > df+5*math.Sqrt(2*df)+1e-9 {
				t.Errorf("%d classes, rate %v: chi-squared %v of %v degrees", k, rate, chi, df)
			}
		}
	}
}

// Pairs of one label after flips at rate e in K classes: (1-e)^2 + e^2/(K-1) of those
// of one class, the closed form for balanced classes.
func TestPairsThatStayTrue(t *testing.T) {
	const n, k, rate = 6000, 10, 0.3
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(i % k)
	}
	out, _ := flip(t, y, k, rate, 1)
	same, all := 0.0, 0.0
	for i := range y {
		for j := range i {
			if y[i] == y[j] {
				all++
				if out[i] == out[j] {
					same++
				}
			}
		}
	}
	if want := (1-rate)*(1-rate) + rate*rate/(k-1); math.Abs(same/all-want) > 0.02 {
		t.Errorf("%v of the pairs, want %v", same/all, want)
	}
}

func TestOneSeedNests(t *testing.T) {
	y := truth(5000, 7)
	low, _ := flip(t, y, 7, 0.1, 9)
	high, _ := flip(t, y, 7, 0.4, 9)
	for i := range y {
		if low[i] != y[i] && high[i] != low[i] {
			t.Fatalf("item %d: %d becomes %d at 0.1 and %d at 0.4", i, y[i], low[i], high[i])
		}
	}
	if again, _ := flip(t, y, 7, 0.4, 9); !slices.Equal(again, high) {
		t.Error("one seed gives two answers")
	}
	if other, _ := flip(t, y, 7, 0.4, 10); slices.Equal(other, high) {
		t.Error("two seeds give one answer")
	}
}

func TestNoNoise(t *testing.T) {
	y := truth(50, 4)
	if out, r := flip(t, y, 4, 0, 1); !slices.Equal(out, y) || r.Flipped != 0 {
		t.Errorf("rate 0: %+v", r)
	}
	if out, _ := flip(t, make([]int32, 5), 1, 0, 1); len(out) != 5 {
		t.Error("one class without noise")
	}
	if out, r := flip(t, nil, 4, 0.5, 1); len(out) != 0 || r.Found != 0 {
		t.Errorf("no items: %+v", r)
	}
	for _, c := range []struct {
		r    record.Noise
		want string
	}{
		{record.Noise{Kind: "sln", Wanted: 0.2, Found: 0.1875, Flipped: 3, Items: 16, Effective: 0.1975308642, EffectiveFound: 0.25}, "sln: 3 of 16 labels are another class's, rate 0.1875 (target 0.2); of balanced pairs 0.2500 are wrong (target 0.197531)"},
		{record.Noise{Kind: "pln", Wanted: 0.1, Found: 0.125, Flipped: 2, Items: 16, Effective: 0.1, EffectiveFound: 0.125}, "pln: 2 of 16 pairs have the other label, rate 0.1250 (target 0.1); of balanced pairs 0.1250 are wrong (target 0.1)"},
		{record.Noise{Kind: "triplet-flip", Wanted: 0.1, Found: 0.125, Flipped: 2, Items: 16}, "triplet-flip: 2 of 16 triplets have positive and negative exchanged, rate 0.1250 (target 0.1)"},
	} {
		if got := Words(c.r); got != c.want {
			t.Error(got)
		}
	}
}

// What was drawn before other kinds of noise came is still drawn.
func TestDrawsStay(t *testing.T) {
	out, _ := flip(t, truth(24, 5), 5, 0.4, 11)
	if !slices.Equal(out, drawn) {
		t.Errorf("%v, want %v", out, drawn)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		y    []int32
		k    int
		rate float64
		want string
	}{
		{[]int32{0, 1}, 2, -0.1, "rate is -0.1"},
		{[]int32{0, 1}, 2, 1, "rate is 1"},
		{[]int32{0, 1}, 2, math.NaN(), "rate is NaN"},
		{[]int32{0, 0}, 1, 0.1, "1 class"},
		{[]int32{0, 2}, 2, 0.1, "item 1 has label 2; there are 2 classes"},
		{[]int32{-1}, 2, 0.1, "item 0 has label -1"},
	} {
		if _, _, err := Labels(c.y, c.k, c.rate, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

var drawn = []int32{0, 2, 0, 4, 3, 3, 0, 1, 4, 4, 1, 4, 3, 0, 0, 0, 1, 2, 0, 2, 3, 0, 1, 1}
