package attack

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
)

// plainCA is the objective of section 1.2 of the specification: the mean over
// queries and items of the hinges, and its gradient term by term.
func plainCA(x *array.Array, z []float64, queries []int32, up bool) (value float64, slope []float64) {
	slope = make([]float64, len(z))
	scale := 1 / float64(len(queries)) / float64(x.Rows())
	for _, q := range queries {
		a := distance64(z, x.Row(int(q)))
		for j := range x.Rows() {
			v, sign := a-plainDistance(x.Row(j), x.Row(int(q))), 1.0
			if !up {
				v, sign = -v, -1
			}
			if v <= 0 {
				continue
			}
			value += v * scale
			for k := range z {
				slope[k] += sign * scale * (z[k] - float64(x.Row(int(q))[k])) / a
			}
		}
	}
	return value, slope
}

func TestCAObjectiveAndGradient(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		for _, n := range []int{5, 64, 257, 640} {
			s := newScene(t, n, 24, 4)
			// At the clean embedding the hinge of the candidate itself has a kink.
			s.z.Row(0)[1] += 1e-3
			for _, w := range []int{1, 2, 5} {
				for _, name := range []string{"CA+", "CA-"} {
					m := s.method(t, name, Fixed, MethodOptions{Seed: 3, W: w})
					s.check(t, fmt.Sprintf("%s, n %d, w %d", name, n, w), m, func(i int, z []float64) (float64, []float64) {
						return plainCA(s.g.X, z, m.Targets(i), name == "CA+")
					})
				}
			}
		}
	})
}

func TestCAGradientIsTheSlope(t *testing.T) {
	s := newScene(t, 80, 5, 6)
	for _, name := range []string{"CA+", "CA-"} {
		m := s.method(t, name, Fixed, MethodOptions{Seed: 1, W: 2})
		per, grad := make([]float64, 6), array.New(6, 5)
		if err := m.Eval(s.z, per, grad); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 6; i++ { // candidate 0 sits on a kink
			want := differences(wide(s.z.Row(i)), func(z []float64) float64 {
				v, _ := plainCA(s.g.X, z, m.Targets(i), name == "CA+")
				return v
			})
			if e := apart(grad.Row(i), want); !(e <= 1e-4) {
				t.Errorf("%s: gradient of candidate %d is off by %v", name, i, e)
			}
		}
	}
}

func TestCAPure(t *testing.T) {
	s := newScene(t, 200, 8, 5)
	for name, sign := range map[string]float64{"CA+": 1, "CA-": -1} {
		m := s.method(t, name, Fixed, MethodOptions{W: 2, Pure: true})
		f := func(z []float64, q []int32) float64 {
			return sign * (distance64(z, s.g.X.Row(int(q[0]))) + distance64(z, s.g.X.Row(int(q[1])))) / 2
		}
		s.check(t, name, m, func(i int, z []float64) (float64, []float64) {
			return f(z, m.Targets(i)), differences(z, func(z []float64) float64 { return f(z, m.Targets(i)) })
		})
	}
}

// A perturbed candidate that is its query exactly, as the published draw allows:
// the slope of a distance at 0 is 0.
func TestCAOnItsQuery(t *testing.T) {
	s := newScene(t, 50, 6, 1)
	m := s.method(t, "CA+", Published, MethodOptions{}).(*ca)
	m.targets[0] = int32(s.batch.Items[0])
	per, grad := make([]float64, 1), array.New(1, 6)
	if err := m.Eval(s.batch.Clean, per, grad); err != nil || per[0] != 0 || grad.Data[0] != 0 {
		t.Errorf("objective %v, gradient %v, %v", per, grad.Data, err)
	}
}

// Scores against counts in float64; the clean copy of the candidate counts as
// published.
func TestCAScores(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		s := newScene(t, 230, 12, 9)
		for _, name := range []string{"CA+", "CA-"} {
			for _, v := range Variants() {
				m := s.method(t, name, v, MethodOptions{Seed: 2, W: 3})
				for _, z := range []*array.Array{s.z, s.batch.Clean} {
					out := [][]float64{make([]float64, 9)}
					m.Score(z, z, out)
					for i, item := range s.batch.Items {
						want := 0.0
						for _, q := range m.Targets(i) {
							n, count := 0, 0
							for j := range 230 {
								if v == Fixed && j == item {
									continue
								}
								n++
								if retrievaltest.Square(z.Row(i), s.g.X.Row(int(q))) > retrievaltest.Square(s.g.X.Row(j), s.g.X.Row(int(q))) {
									count++
								}
							}
							want += float64(count) / float64(n) / 3
						}
						if math.Abs(out[0][i]-want) > 1e-12 {
							t.Errorf("%s %s: score of candidate %d is %v, want %v", name, v, i, out[0][i], want)
						}
					}
				}
			}
		}
	})
}

func TestCATargets(t *testing.T) {
	s := newScene(t, 400, 12, 60)
	for _, o := range []MethodOptions{{W: 3}, {W: 3, Near: true}} {
		for _, name := range []string{"CA+", "CA-"} {
			p, f := s.method(t, name, Published, o), s.method(t, name, Fixed, o)
			seen := map[int]bool{}
			for i, item := range s.batch.Items {
				order := retrievaltest.Order(s.g.X, s.batch.Clean.Row(i))
				from, to := 0, 4
				if name == "CA+" {
					from, to = 4, 20
				}
				if slices.Contains(f.Targets(i), int32(item)) {
					t.Errorf("%s fixed: candidate %d is its own query", name, i)
				}
				if name == "CA+" && !o.Near {
					for r, q := range p.Targets(i) {
						if !slices.Contains(p.Targets(i), int32(item)) && f.Targets(i)[r] != q {
							t.Errorf("CA+: variants draw %v and %v", p.Targets(i), f.Targets(i))
						}
					}
					continue
				}
				for _, q := range p.Targets(i) {
					at := slices.Index(order[1:], q)
					if seen[at] = true; at < from || at >= to {
						t.Errorf("%s published: query of candidate %d is at place %d", name, i, at)
					}
				}
				if order[0] == int32(item) && !slices.Equal(p.Targets(i), f.Targets(i)) {
					t.Errorf("%s: variants draw %v and %v", name, p.Targets(i), f.Targets(i))
				}
			}
			if (name == "CA-" && len(seen) != 4) || (name == "CA+" && o.Near && len(seen) != 16) {
				t.Errorf("%s: places %v", name, seen)
			}
		}
	}
}

func TestCATablesAreBounded(t *testing.T) {
	g := &retrieval.Gallery{X: &array.Array{Shape: []int{100000, 1}}}
	m, err := newCA("CA+", true, g, Fixed, MethodOptions{W: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Aim(&Batch{Items: make([]int, 128)}, 0); err == nil || !strings.Contains(err.Error(), "128 x 100 x 100000 distances") {
		t.Error(err)
	}
}
