package attack

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
)

// With the weight xi fixed or adaptive: QA and xi times QA+ on what is protected.
func TestSPQAObjectiveAndGradient(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		s := newScene(t, 900, 20, 6)
		for _, name := range []string{"SPQA+", "SPQA-"} {
			for _, v := range Variants() {
				for _, xi := range []Xi{{}, {Weight: 7}, {Scale: 30}, {Scale: 1e9}} {
					const m = 2
					method := s.method(t, name, v, MethodOptions{Seed: 4, M: m, Xi: xi})
					up := name == "SPQA+"
					l := func(i int) float64 {
						return plainQA(s.g.X, wide(s.z.Row(i)), method.Targets(i)[m:], true)
					}
					weight := func(i int) float64 {
						switch {
						case xi.Scale == 0 && xi.Weight > 0:
							return xi.Weight
						case xi.Scale == 0 && up:
							return 1
						case xi.Scale == 0:
							return 100
						case v == Fixed:
							return math.Min(math.Exp(xi.Scale*l(i)), 1e9)
						}
						mean := 0.0
						for k := range s.z.Rows() {
							mean += l(k) / float64(s.z.Rows())
						}
						return math.Min(math.Exp(xi.Scale*mean), 1e9)
					}
					s.check(t, fmt.Sprintf("%s %s %+v", name, v, xi), method, func(i int, z []float64) (float64, []float64) {
						w := weight(i)
						value := plainQA(s.g.X, z, method.Targets(i)[:m], up) + w*l(i)
						slope := plainQASlope(s.g.X, z, method.Targets(i)[:m], up)
						for k, g := range plainQASlope(s.g.X, z, method.Targets(i)[m:], true) {
							slope[k] += w * g
						}
						return value, slope
					})
				}
			}
		}
	})
}

func TestSPQAProtects(t *testing.T) {
	s := newScene(t, 800, 12, 50)
	for _, c := range []struct {
		name      string
		m, shield int
	}{{"SPQA+", 1, 5}, {"SPQA+", 3, 5}, {"SPQA-", 1, 5}, {"SPQA-", 3, 5}, {"SPQA-", 6, 2}} {
		m := s.method(t, c.name, Fixed, MethodOptions{M: c.m})
		for i, item := range s.batch.Items {
			near := slices.DeleteFunc(retrievaltest.Order(s.g.X, s.batch.Clean.Row(i)), func(j int32) bool { return j == int32(item) })[:8]
			want := near[:5]
			if c.name == "SPQA-" {
				want = slices.DeleteFunc(near, func(j int32) bool { return slices.Contains(m.Targets(i)[:c.m], j) })[:c.shield]
			}
			if got := m.Targets(i)[c.m:]; !slices.Equal(got, want) {
				t.Errorf("%s, m %d, query %d: protects %v, want %v", c.name, c.m, i, got, want)
			}
		}
	}
}

func TestSPQAScores(t *testing.T) {
	s := newScene(t, 600, 12, 8)
	for _, name := range []string{"SPQA+", "SPQA-"} {
		for _, v := range Variants() {
			m := s.method(t, name, v, MethodOptions{})
			if want := Keys([]string{name}); !slices.Equal(m.Scores(), want) {
				t.Errorf("%v, want %v", m.Scores(), want)
			}
			out := [][]float64{make([]float64, 8), make([]float64, 8)}
			m.Score(s.z, s.z, out)
			for i, item := range s.batch.Items {
				order, n := retrievaltest.Order(s.g.X, s.z.Row(i)), 600.0
				if v == Fixed {
					order, n = slices.DeleteFunc(order, func(j int32) bool { return j == int32(item) }), 599
				}
				protected := 0.0
				for _, p := range m.Targets(i)[1:] {
					protected += float64(slices.Index(order, p)) / n / 5
				}
				if rank := float64(slices.Index(order, m.Targets(i)[0])) / n; math.Abs(out[0][i]-rank) > 1e-12 || math.Abs(out[1][i]-protected) > 1e-12 {
					t.Errorf("%s %s: query %d scores %v and %v, want %v and %v", name, v, i, out[0][i], out[1][i], rank, protected)
				}
			}
		}
	}
}

// The published adaptive weight is that of the published batch, however many
// images are crafted together.
func TestSPQAJoinsThePublishedBatch(t *testing.T) {
	x := newTried()
	x.o.Attacks, x.o.Method.Xi.Scale, x.o.PGD.Eps, x.o.PGD.Step = []string{"SPQA+"}, 30, 0.3, 0.05
	want := map[Variant]string{}
	for _, batch := range []int{7, 24} {
		x.o.Batch = batch
		for _, together := range []int{0, 7, 3} {
			x.o.Together = together
			r, err := x.run(NewMethod)
			if err != nil {
				t.Fatal(err)
			}
			got := digest(r, Published)
			if together == 0 {
				want[Published] = got
			}
			if got != want[Published] {
				t.Errorf("published, batch %d, %d together: other bits", batch, together)
			}
			if want[Fixed] == "" {
				want[Fixed] = digest(r, Fixed)
			}
			if digest(r, Fixed) != want[Fixed] {
				t.Errorf("fixed, batch %d, %d together: other bits", batch, together)
			}
		}
	}
	x.o.Together, x.o.Batch = 0, 7
	if r, err := x.run(NewMethod); err != nil || digest(r, Published) == want[Published] {
		t.Errorf("the size of the batch says nothing (%v)", err)
	}
}

// The published adaptive weight joins the queries of a batch: those images are
// not the fixed variant's.
func TestSPQAKinds(t *testing.T) {
	s := newScene(t, 600, 4, 2)
	kind := func(v Variant, xi Xi) string { return s.method(t, "SPQA+", v, MethodOptions{Xi: xi}).Kind() }
	if kind(Published, Xi{}) != kind(Fixed, Xi{}) || kind(Published, Xi{Scale: 1}) == kind(Fixed, Xi{Scale: 1}) {
		t.Error("kinds")
	}
	if err := s.method(t, "SPQA+", Published, MethodOptions{Xi: Xi{Scale: 1}}).Eval(array.New(2, 4), make([]float64, 2), nil); err != nil {
		t.Error(err)
	}
}
