package attack

import (
	"slices"
	"testing"

	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
)

func TestGTT(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		s := newScene(t, 300, 12, 40)
		s.batch.Items[5] = 299 // rows 3, 298 and 299 are the same
		copy(s.batch.Clean.Row(5), s.g.X.Row(299))
		copy(s.z.Row(5), s.g.X.Row(299))
		for _, v := range Variants() {
			m := s.method(t, "GTT", v, MethodOptions{})
			s.check(t, "GTT", m, func(i int, z []float64) (float64, []float64) {
				return plainQA(s.g.X, z, m.Targets(i), false), plainQASlope(s.g.X, z, m.Targets(i), false)
			})
			hits := 0
			out, clean := [][]float64{make([]float64, 40)}, [][]float64{make([]float64, 40)}
			m.Score(s.z, s.z, out)
			m.Score(s.batch.Clean, s.batch.Clean, clean)
			for i, item := range s.batch.Items {
				order := retrievaltest.Order(s.g.X, s.batch.Clean.Row(i))
				own := order[0]
				if v == Fixed {
					own = int32(item)
				}
				first := slices.DeleteFunc(order, func(j int32) bool { return j == own })[0]
				if got := m.Targets(i); len(got) != 1 || got[0] != first {
					t.Errorf("%s: target of query %d is %v, want %d", v, i, got, first)
				}
				now := slices.DeleteFunc(retrievaltest.Order(s.g.X, s.z.Row(i)), func(j int32) bool { return j == own })
				want := 0.0
				if slices.Contains(now[:4], first) {
					want = 1
					hits++
				}
				if out[0][i] != want || clean[0][i] != 1 {
					t.Errorf("%s: query %d scores %v, want %v; clean %v", v, i, out[0][i], want, clean[0][i])
				}
			}
			if hits == 0 || hits == 40 {
				t.Errorf("%d of 40 retained: the test shows nothing", hits)
			}
		}
		p, f := s.method(t, "GTT", Published, MethodOptions{}), s.method(t, "GTT", Fixed, MethodOptions{})
		for i := range 40 {
			if same := slices.Equal(p.Targets(i), f.Targets(i)); same == (i == 5) {
				t.Errorf("query %d: targets %v and %v", i, p.Targets(i), f.Targets(i))
			}
		}
	})
}

// One other item: it is always among the nearest four.
func TestGTTOfTwo(t *testing.T) {
	x := array.New(2, 1)
	x.Data[1] = 1
	s := scene{mustGallery(t, x, nil), &Batch{Items: []int{0, 1}, Clean: x}, x}
	m := s.method(t, "GTT", Fixed, MethodOptions{})
	out := [][]float64{make([]float64, 2)}
	m.Score(x, x, out)
	if m.Targets(0)[0] != 1 || m.Targets(1)[0] != 0 || out[0][0] != 1 || out[0][1] != 1 {
		t.Errorf("targets %v %v, scores %v", m.Targets(0), m.Targets(1), out)
	}
}
