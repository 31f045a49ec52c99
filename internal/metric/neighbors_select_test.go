package metric

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The k-th smallest is that of the sorted list, for all k of lists that are hard on
// a pivot, among them ties.
func TestKthSmallestIsThatOfTheSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	kinds := map[string]func(i, n int) float64{
		"normal":     func(int, int) float64 { return r.NormFloat64() },
		"rising":     func(i, _ int) float64 { return float64(i) },
		"falling":    func(i, _ int) float64 { return -float64(i) },
		"equal":      func(int, int) float64 { return 3 },
		"two values": func(int, int) float64 { return float64(r.IntN(2)) },
		"few values": func(int, int) float64 { return float64(r.IntN(5)) },
		"organ":      func(i, n int) float64 { return float64(min(i, n-i)) },
		"one large": func(i, n int) float64 {
			if i == n/2 {
				return 9
			}
			return 1
		},
		"sawtooth": func(i, _ int) float64 { return float64(i % 7) },
	}
	for name, kind := range kinds {
		for n := 1; n < 140; n++ {
			list := make([]float64, n)
			for i := range list {
				list[i] = kind(i, n)
			}
			sorted := slices.Sorted(slices.Values(list))
			for k := 1; k <= n; k++ {
				if got := kthSmallest(slices.Clone(list), k); got != sorted[k-1] {
					t.Fatalf("%s, %d of %d: %v, want %v", name, k, n, got, sorted[k-1])
				}
				v := slices.Clone(list)
				quickselect(v, k)
				if v[k-1] != sorted[k-1] {
					t.Fatalf("quickselect, %s, %d of %d: %v, want %v", name, k, n, v[k-1], sorted[k-1])
				}
				if slices.Sort(v); !slices.Equal(v, sorted) {
					t.Fatalf("quickselect, %s, %d of %d: the list has other numbers than before", name, k, n)
				}
			}
		}
	}
}

// Equal numbers, which no pivot parts, are done in the time of a sort: n squared
// would be most of an hour.
func TestQuickselectOfEqualNumbersEnds(t *testing.T) {
	const n = 1 << 21
	v := make([]float64, n)
	v[n/3], v[n/5] = -1, 1
	for k, want := range map[int]float64{1: -1, 2: 0, n / 2: 0, n - 1: 0, n: 1} {
		if quickselect(v, k); v[k-1] != want {
			t.Errorf("%d: %v, want %v", k, v[k-1], want)
		}
	}
}
