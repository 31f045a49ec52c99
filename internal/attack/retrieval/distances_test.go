package retrieval

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

func TestDistances(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		for _, c := range clouds() {
			x, z := c.draw(3, 9)
			g := mustGallery(t, x, nil)
			out := make([]float32, 9*c.n)
			g.Distances(z, out)
			for i := range 9 {
				from := g.center(z.Row(i), make([]float32, c.d))
				for j := range c.n {
					got, want := float64(out[i*c.n+j]), retrievaltest.Square(z.Row(i), x.Row(j))
					if !(math.Abs(got*got-want) <= g.slack(from)) {
						t.Errorf("%+v: distance of %d from %d is %v, want %v, slack %v", c, i, j, got, math.Sqrt(want), g.slack(from))
					}
					if want < nearPart/2*from && !(math.Abs(got-math.Sqrt(want)) <= 1e-7*got) {
						t.Errorf("%+v: near distance of %d from %d is %v, want %v", c, i, j, got, math.Sqrt(want))
					}
				}
			}
			if out[0] != 0 || out[c.n-1] != 0 {
				t.Errorf("%+v: distances of an item from itself and its copy are %v and %v", c, out[0], out[c.n-1])
			}
		}
	})
}

func TestDistancesDoNotDependOnThreadsOrBatch(t *testing.T) {
	defer par.SetThreads(par.Threads())
	x, z := cloud{700, 40, 0, 0.2}.draw(1, 70)
	g := mustGallery(t, x, nil)
	want := make([]float32, 70*700)
	par.SetThreads(1)
	g.Distances(z, want)
	got := make([]float32, 70*700)
	par.SetThreads(2)
	mustGallery(t, x, nil).Distances(z, got)
	if !slices.Equal(got, want) {
		t.Error("two threads give other bits")
	}
	g.Distances(z.Slice(13, 19), got[:6*700])
	if !slices.Equal(got[:6*700], want[13*700:19*700]) {
		t.Error("a part of the batch gives other bits")
	}
}

func TestNewGalleryRefuses(t *testing.T) {
	nan, far := array.New(3, 2), array.New(3, 2)
	nan.Data[3], far.Data[4] = float32(math.NaN()), 1e19
	for _, c := range []struct {
		x      *array.Array
		labels int
		want   string
	}{
		{array.New(3, 2), 2, "2 labels for 3"},
		{array.New(1, 2), 1, "a gallery of 1 images"},
		{array.New(3, 0), 3, "no coordinates"},
		{nan, 3, "embedding 1 is NaN in coordinate 1"},
		{far, 3, "embedding 0 is 3.33e+18 away from the mean"},
	} {
		if _, err := NewGallery(c.x, make([]int32, c.labels)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Ranks and windows against a full sort in float64.
func TestRanksAndWindowsAreExact(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		for _, c := range clouds() {
			x, z := c.draw(5, 7)
			if c.n > 20 { // more duplicates
				copy(x.Row(11), x.Row(4))
				copy(x.Row(7), x.Row(4))
			}
			g := mustGallery(t, x, nil)
			d := g.Measure(z)
			par.Do(7, 1, d)
			for i := range 7 {
				order := retrievaltest.Order(x, z.Row(i))
				for place, item := range order {
					if got := d.Rank(i, item); got != place {
						t.Errorf("%+v: rank of %d for query %d is %d, want %d", c, item, i, got, place)
					}
				}
				d.Hide(i, order[c.n/3])
				for place, item := range order[c.n/3+1:] {
					if got := d.Rank(i, item); got != c.n/3+place {
						t.Errorf("%+v: rank of %d without %d is %d, want %d", c, item, order[c.n/3], got, c.n/3+place)
					}
				}
			}
			d.Release()
			for _, k := range []int{1, 2, c.n/2 + 1, c.n} {
				var w Windows
				w.Find(g, z, k)
				for i := range 7 {
					order := retrievaltest.Order(x, z.Row(i))
					if !slices.Equal(w.Items[i], order[:k]) {
						t.Errorf("%+v: the %d nearest of query %d are %v, want %v", c, k, i, w.Items[i], order[:k])
					}
					if i%2 == 0 {
						want := slices.Clone(order[:k])
						want = slices.Delete(want, k/2, k/2+1)
						if got := Without(w.Items[i], order[k/2:k/2+1]); !slices.Equal(got, want) {
							t.Errorf("%+v: without %d: %v, want %v", c, order[k/2], got, want)
						}
					} else if got := Without(w.Items[i], []int32{int32(c.n)}); !slices.Equal(got, order[:k]) {
						t.Errorf("%+v: without a far item: %v, want %v", c, got, order[:k-1])
					}
				}
			}
		}
	})
}

func TestAscending(t *testing.T) {
	r := rng.New(1, "sort")
	var spare []float32
	for _, n := range []int{0, 1, 2, 5, 1000, 4097} {
		x := make([]float32, n)
		for i := range x {
			switch i % 5 {
			case 0:
				x[i] = float32(math.Exp(r.Uniform(-100, 88)))
			case 1:
				x[i] = 0
			case 2:
				x[i] = float32(r.IntN(10))
			case 3:
				x[i] = float32(math.Inf(1))
			default:
				x[i] = float32(r.Float64())
			}
		}
		want := slices.Clone(x)
		slices.Sort(want)
		if got := Ascending(x, &spare); !slices.Equal(got, want) {
			t.Errorf("%d numbers: not sorted", n)
		}
	}
}

// The sort that CA needs for each query, beside the library's.
func BenchmarkSort(b *testing.B) {
	r := rng.New(1, "sort")
	x, y := make([]float32, 10000), make([]float32, 10000)
	for i := range x {
		x[i] = float32(r.Uniform(0.2, 1.6))
	}
	var spare []float32
	b.Run("ascending", func(b *testing.B) {
		for b.Loop() {
			copy(y, x)
			Ascending(y, &spare)
		}
	})
	b.Run("slices", func(b *testing.B) {
		for b.Loop() {
			copy(y, x)
			slices.Sort(y)
		}
	})
}
