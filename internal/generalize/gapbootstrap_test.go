package generalize

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// A resample's mean is that over all triplets of the copies that were drawn.
func TestResampledMeansByCopies(t *testing.T) {
	labels := []int32{3, 3, 3, 1, 1, 0, 0, 0}
	ts, err := drawTriplets(labels, 40, "test", rng.New(0, "draw"))
	if err != nil {
		t.Fatal(err)
	}
	value := make([]float64, len(ts))
	for k := range value {
		value[k] = math.Sin(float64(k))
	}
	for _, by := range []string{byImages, byClasses} {
		r := newResampled(labels, by)
		got, ok := r.means(ts, [][]float64{value}, 30, 5, "boot")
		if !ok {
			t.Fatal("no triplets")
		}
		par.SetThreads(1)
		again, _ := r.means(ts, [][]float64{value}, 30, 5, "boot")
		par.SetThreads(0)
		if !slices.Equal(got[0], again[0]) {
			t.Error("threads change bits")
		}
		count := make([]uint32, r.units)
		for k := range 30 {
			s := rng.New(5, "boot", uint64(k))
			var sum, n float64
			for n == 0 {
				r.count(count, s)
				drawn := map[int32]uint32{}
				for i, y := range labels {
					if by == byImages {
						drawn[y] += count[i]
					}
				}
				for y, c := range drawn {
					if own := uint32(len(slices.DeleteFunc(slices.Clone(labels), func(l int32) bool { return l != y }))); c != own {
						t.Fatalf("class %d has %d copies of %d items", y, c, own)
					}
				}
				for i, x := range ts {
					copies := func(item int32) int {
						if by == byImages {
							return int(count[item])
						}
						return int(count[slices.Index([]int32{3, 1, 0}, labels[item])]) // in the order of appearance
					}
					for range copies(x.A) {
						for range copies(x.N) {
							positives := copies(x.P)
							if by == byClasses { // a copy of a class has the positive in it
								positives = 1
							}
							for range positives {
								sum += value[i]
								n++
							}
						}
					}
				}
			}
			if math.Abs(sum/n-got[0][k]) > 1e-12 {
				t.Fatalf("%s, resample %d: %v, want %v", by, k, got[0][k], sum/n)
			}
		}
	}
}

// Where the loss is a trait of the anchor, the interval is that of a mean over as many
// images as there are, however many triplets are drawn of them.
func TestIntervalsKnowThatTripletsShareImages(t *testing.T) {
	const classes, each, n = 4, 25, 20_000
	var labels []int32
	r := rng.New(7, "traits")
	trait := make([]float64, classes*each)
	for i := range trait {
		labels = append(labels, int32(i%classes))
		trait[i] = r.NormFloat64()
	}
	ts, err := drawTriplets(labels, n, "test", r)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]float64, n)
	for k, x := range ts {
		value[k] = trait[x.A]
	}
	got, _ := newResampled(labels, byImages).means(ts, [][]float64{value}, 400, 1, "boot")
	ci := interval(got[0])
	want := 2 * 1.96 / math.Sqrt(classes*each)
	if w := ci[1] - ci[0]; w < 0.75*want || w > 1.35*want {
		t.Errorf("the interval is %.3f wide; a mean over %d images has %.3f, over %d triplets %.3f", w, classes*each, want, n, want*math.Sqrt(classes*each)/math.Sqrt(n))
	}
	if _, ok := newResampled([]int32{0, 0, 1}, byImages).means([]loss.Triplet{{A: 0, P: 0, N: 2}}, [][]float64{{1}}, 3, 0, "boot"); !ok {
		t.Error("images that are always drawn have no triplet")
	}
	if _, ok := newResampled([]int32{0, 0, 0}, byClasses).means(nil, [][]float64{nil}, 3, 0, "boot"); ok {
		t.Error("no triplets have a mean")
	}
	slices.Sort(got[0])
	if ci[0] < got[0][8] || ci[0] > got[0][12] || ci[1] < got[0][387] || ci[1] > got[0][391] {
		t.Errorf("interval %v of %v", ci, got[0])
	}
}
