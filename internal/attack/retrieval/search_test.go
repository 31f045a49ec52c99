package retrieval

import (
	"fmt"
	"math"
	"testing"

	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// cloud is a gallery and queries of one kind of difficulty.
type cloud struct {
	n, d          int
	offset, scale float64
}

func clouds() []cloud {
	return []cloud{
		{2, 1, 0, 1}, {50, 3, 0, 1}, {201, 16, 0, 0.3},
		{120, 8, 30, 1e-3}, // near-equal points far from the origin
		{40, 5, 1, 0},      // collapsed
		{64, 512, 0, 0.04},
	}
}

func (c cloud) draw(seed uint64, queries int) (x, q *array.Array) {
	r := rng.New(seed, "cloud")
	x, q = array.New(c.n, c.d), array.New(queries, c.d)
	for i := range x.Data {
		x.Data[i] = float32(c.offset + c.scale*r.NormFloat64())
	}
	copy(x.Row(c.n-1), x.Row(0)) // a duplicate
	for i := range q.Data {
		q.Data[i] = float32(c.offset + c.scale*r.NormFloat64())
	}
	copy(q.Row(0), x.Row(0))
	return x, q
}

func mustGallery(t testing.TB, x *array.Array, labels []int32) *Gallery {
	t.Helper()
	if labels == nil {
		labels = make([]int32, x.Rows())
	}
	g, err := NewGallery(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNearestIsExact(t *testing.T) {
	for _, c := range clouds() {
		x, q := c.draw(8, 9)
		s := NewNearest(mustGallery(t, x, nil))
		s.Find(q, nil)
		for i := range 9 {
			first := retrievaltest.Extreme(x, q.Row(i), 1, func(j int) bool { return true })
			second := retrievaltest.Extreme(x, q.Row(i), 1, func(j int) bool { return j != first })
			if int(s.First[i]) != first || int(s.Second[i]) != second {
				t.Errorf("%+v query %d: %d and %d, want %d and %d", c, i, s.First[i], s.Second[i], first, second)
			}
		}
	}
}

func TestSearchAgainstLoops(t *testing.T) {
	for _, c := range clouds() {
		x, q := c.draw(3, 7)
		some := []int32{}
		for j := 0; j < c.n; j += 3 {
			some = append(some, int32(j))
		}
		in := func(j int) bool { return j%3 == 0 }
		s := mustGallery(t, x, nil).Measure(q)
		for i := range 7 {
			z := q.Row(i)
			s.Finish(i)
			check := func(what string, item int32, square float64, want int) {
				t.Helper()
				if int(item) != want || want >= 0 && math.Abs(square-retrievaltest.Square(x.Row(want), z)) > 1e-12*(1+square) {
					t.Errorf("%+v query %d: %s is %d at %v, want %d", c, i, what, item, square, want)
				}
			}
			item, square := s.Most(i)
			check("farthest", item, square, retrievaltest.Extreme(x, z, -1, func(int) bool { return true }))
			item, square = s.LeastAmong(i, some)
			check("nearest of some", item, square, retrievaltest.Extreme(x, z, 1, in))
			s.Hide(i, 0)
			item, square = s.LeastAmong(i, some)
			check("nearest of some but 0", item, square, retrievaltest.Extreme(x, z, 1, func(j int) bool { return in(j) && j > 0 }))
			s.HideAll(i, some)
			item, square = s.Least(i)
			check("nearest of the rest", item, square, retrievaltest.Extreme(x, z, 1, func(j int) bool { return !in(j) }))
			item, square = s.Most(i)
			check("farthest of the rest", item, square, retrievaltest.Extreme(x, z, -1, func(j int) bool { return !in(j) }))
			for j := range c.n {
				s.Hide(i, int32(j))
			}
			item, _ = s.Least(i)
			far, _ := s.Most(i)
			among, _ := s.LeastAmong(i, some)
			if item != -1 || far != -1 || among != -1 {
				t.Errorf("%+v: found %d, %d and %d among nothing", c, item, far, among)
			}
		}
		s.Release()
	}
}

// A query that is NaN finds nothing; one far away finds what float64 decides; the
// others of the batch do not notice.
func TestSearchOfWildQueries(t *testing.T) {
	x, q := cloud{30, 4, 0, 1}.draw(5, 3)
	q.Row(0)[1] = float32(math.NaN())
	q.Row(1)[1] = 1e15
	s := mustGallery(t, x, nil).Measure(q)
	defer s.Release()
	s.Run(0, 3)
	least, _ := s.Least(0)
	most, _ := s.Most(0)
	if least != -1 || most != -1 {
		t.Errorf("NaN found %d and %d", least, most)
	}
	for i := 1; i < 3; i++ {
		if least, _ = s.Least(i); int(least) != retrievaltest.Extreme(x, q.Row(i), 1, func(int) bool { return true }) {
			t.Errorf("query %d found %d", i, least)
		}
	}
}

func TestSearchDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	x, q := cloud{300, 32, 0, 0.2}.draw(7, 40)
	want := ""
	for _, threads := range []int{1, 2} {
		par.SetThreads(threads)
		n := NewNearest(mustGallery(t, x, nil))
		n.Find(q, nil)
		if got := fmt.Sprint(n.First, n.Second); want == "" {
			want = got
		} else if got != want {
			t.Error("other neighbors with two threads")
		}
	}
}
