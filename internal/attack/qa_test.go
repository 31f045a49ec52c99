package attack

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

func plainDistance(x, y []float32) float64 { return math.Sqrt(retrievaltest.Square(x, y)) }

// plainQA is the objective of section 1.3 of the specification: the mean over
// candidates and items of the hinges.
func plainQA(x *array.Array, z []float64, candidates []int32, up bool) float64 {
	sum := 0.0
	for _, c := range candidates {
		a := distance64(z, x.Row(int(c)))
		for j := range x.Rows() {
			v := a - distance64(z, x.Row(j))
			if !up {
				v = -v
			}
			sum += math.Max(0, v)
		}
	}
	return sum / float64(len(candidates)) / float64(x.Rows())
}

func distance64(z []float64, x []float32) float64 {
	s := 0.0
	for k, v := range z {
		s += (v - float64(x[k])) * (v - float64(x[k]))
	}
	return math.Sqrt(s)
}

// plainQASlope is its gradient, term by term.
func plainQASlope(x *array.Array, z []float64, candidates []int32, up bool) []float64 {
	out := make([]float64, len(z))
	add := func(x []float32, weight float64) {
		if d := distance64(z, x); d > 0 {
			for k, v := range z {
				out[k] += weight * (v - float64(x[k])) / d
			}
		}
	}
	scale := 1 / float64(len(candidates)) / float64(x.Rows())
	for _, c := range candidates {
		a := distance64(z, x.Row(int(c)))
		for j := range x.Rows() {
			b := distance64(z, x.Row(j))
			switch {
			case up && a > b:
				add(x.Row(int(c)), scale)
				add(x.Row(j), -scale)
			case !up && b > a:
				add(x.Row(j), scale)
				add(x.Row(int(c)), -scale)
			}
		}
	}
	return out
}

// differences is the gradient of f at z by finite differences.
func differences(z []float64, f func(z []float64) float64) []float64 {
	const h = 1e-6
	out, at := make([]float64, len(z)), slices.Clone(z)
	for k, v := range z {
		at[k] = v + h
		up := f(at)
		at[k] = v - h
		out[k] = (up - f(at)) / (2 * h)
		at[k] = v
	}
	return out
}

// apart returns |a - b| / |b|.
func apart(a []float32, b []float64) float64 {
	var d, s float64
	for k, v := range b {
		d += (float64(a[k]) - v) * (float64(a[k]) - v)
		s += v * v
	}
	if s == 0 {
		return math.Sqrt(d)
	}
	return math.Sqrt(d / s)
}

// scene is a gallery with queries away from their clean embeddings.
type scene struct {
	g     *retrieval.Gallery
	batch *Batch
	z     *array.Array
}

func newScene(t testing.TB, n, d, queries int) scene {
	x, labels := unitCloud(uint64(n), n, d)
	if n > 40 { // duplicates
		copy(x.Row(n-1), x.Row(3))
		copy(x.Row(n-2), x.Row(3))
	}
	b := &Batch{Clean: array.New(queries, d)}
	z := array.New(queries, d)
	r := rng.New(uint64(d), "scene")
	for i := range queries {
		b.Items = append(b.Items, (i*7)%n)
		copy(b.Clean.Row(i), x.Row((i*7)%n))
		step := 0.3 * r.Float64()
		for k, v := range b.Clean.Row(i) {
			z.Row(i)[k] = v + float32(step*r.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	copy(z.Row(0), b.Clean.Row(0)) // coincides with an item
	return scene{mustGallery(t, x, labels), b, z}
}

func (s scene) method(t testing.TB, name string, v Variant, o MethodOptions) Method {
	t.Helper()
	m, err := NewMethod(name, s.g, v, o)
	if err == nil {
		err = m.Aim(s.batch, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check compares the objective and the gradient of all queries with f's.
func (s scene) check(t *testing.T, what string, m Method, f func(i int, z []float64) (value float64, slope []float64)) {
	t.Helper()
	b, d := s.z.Rows(), s.z.Cols()
	per, grad := make([]float64, b), array.New(b, d)
	for i := range grad.Data {
		grad.Data[i] = float32(math.NaN()) // to be overwritten
	}
	if err := m.Eval(s.z, per, grad); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		value, slope := f(i, wide(s.z.Row(i)))
		if !(math.Abs(per[i]-value) <= 1e-5*math.Abs(value)+1e-7) {
			t.Errorf("%s: objective of query %d is %v, want %v", what, i, per[i], value)
		}
		if e := apart(grad.Row(i), slope); !(e <= 1e-4) {
			t.Errorf("%s: gradient of query %d is off by %v", what, i, e)
		}
	}
	again := make([]float64, b)
	if err := m.Eval(s.z, again, nil); err != nil || !slices.Equal(per, again) {
		t.Errorf("%s: without the gradient: %v, %v", what, again, err)
	}
}

func TestQAObjectiveAndGradient(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		for _, n := range []int{30, 257, 500} {
			s := newScene(t, n, 24, 6)
			for _, m := range []int{1, 2, 5} {
				for _, name := range []string{"QA+", "QA-"} {
					if k := onePercent(n); name == "QA-" && m > k {
						continue
					}
					method := s.method(t, name, Fixed, MethodOptions{Seed: 3, M: m})
					s.check(t, fmt.Sprintf("%s, n %d, m %d", name, n, m), method, func(i int, z []float64) (float64, []float64) {
						return plainQA(s.g.X, z, method.Targets(i), name == "QA+"), plainQASlope(s.g.X, z, method.Targets(i), name == "QA+")
					})
				}
			}
		}
	})
}

func TestQAGradientIsTheSlope(t *testing.T) {
	s := newScene(t, 60, 5, 5)
	for _, name := range []string{"QA+", "QA-"} {
		m := s.method(t, name, Fixed, MethodOptions{Seed: 1})
		per, grad := make([]float64, 5), array.New(5, 5)
		if err := m.Eval(s.z, per, grad); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 5; i++ { // query 0 sits on a kink
			want := differences(wide(s.z.Row(i)), func(z []float64) float64 { return plainQA(s.g.X, z, m.Targets(i), name == "QA+") })
			if e := apart(grad.Row(i), want); !(e <= 1e-4) {
				t.Errorf("%s: gradient of query %d is off by %v", name, i, e)
			}
		}
	}
}

// Items that nearly coincide with the query have directions that a weighted sum
// loses.
func TestQAGradientNearItems(t *testing.T) {
	s := newScene(t, 300, 16, 6)
	for i := 1; i < 6; i++ { // from 1e-6 to 1e-2 off the item
		for k, v := range s.batch.Clean.Row(i) {
			s.z.Row(i)[k] = v + float32(math.Pow(10, float64(i-7))*math.Sin(float64(k+1)))
		}
	}
	for _, name := range []string{"QA+", "QA-"} {
		m := s.method(t, name, Fixed, MethodOptions{})
		// Towards or away from an item that is among the nearest.
		s.check(t, name, m, func(i int, z []float64) (float64, []float64) {
			return plainQA(s.g.X, z, m.Targets(i), name == "QA+"), plainQASlope(s.g.X, z, m.Targets(i), name == "QA+")
		})
	}
	m := s.method(t, "GTT", Fixed, MethodOptions{})
	s.check(t, "GTT", m, func(i int, z []float64) (float64, []float64) {
		return plainQA(s.g.X, z, m.Targets(i), false), plainQASlope(s.g.X, z, m.Targets(i), false)
	})
}

// Queries with few active hinges take another path: they and the rest, in one
// batch and alone.
func TestQASparseAndDense(t *testing.T) {
	const n, d, b = 640, 20, 12
	s := newScene(t, n, d, b)
	s.z.Row(0)[1] += 1e-3
	for _, name := range []string{"QA+", "QA-"} {
		m := s.method(t, name, Fixed, MethodOptions{}).(*qa)
		for i := range b {
			order := retrievaltest.Order(s.g.X, s.z.Row(i))
			m.goal.targets[i] = order[(i*7)%12*58]
		}
		s.check(t, name, m, func(i int, z []float64) (float64, []float64) {
			return plainQA(s.g.X, z, m.Targets(i), name == "QA+"), plainQASlope(s.g.X, z, m.Targets(i), name == "QA+")
		})
		per, grad := make([]float64, b), array.New(b, d)
		if err := m.Eval(s.z, per, grad); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(m.goal.sparse, true) || !slices.Contains(m.goal.sparse, false) {
			t.Errorf("%s: sparse %v: the test shows nothing", name, m.goal.sparse)
		}
		targets := m.goal.targets
		for i := range b {
			alone := array.New(1, d)
			m.goal.targets = targets[i : i+1]
			if err := m.Eval(s.z.Slice(i, i+1), make([]float64, 1), alone); err != nil || !slices.Equal(alone.Data, grad.Row(i)) {
				t.Errorf("%s: query %d alone has other bits, %v", name, i, err)
			}
		}
	}
}

// Where the candidate is nearest, nothing is left to do: not even a rounding error.
func TestQAIsExactlyZeroAtItsGoal(t *testing.T) {
	s := newScene(t, 100, 16, 4)
	m := s.method(t, "QA+", Published, MethodOptions{Seed: 5}).(*qa)
	for i := range 4 {
		m.goal.targets[i] = 3 // it has two copies
		for k, v := range s.g.X.Row(3) {
			s.z.Row(i)[k] = v * (1 + 0.01*float32(i))
		}
	}
	per, grad := make([]float64, 4), array.New(4, 16)
	if err := m.Eval(s.z, per, grad); err != nil {
		t.Fatal(err)
	}
	for i, v := range grad.Data {
		if v != 0 || per[i/16] != 0 {
			t.Fatalf("query %d: objective %v, gradient %v", i/16, per[i/16], grad.Row(i/16))
		}
	}
}

func TestQAPure(t *testing.T) {
	s := newScene(t, 200, 8, 5)
	for name, sign := range map[string]float64{"QA+": 1, "QA-": -1} {
		m := s.method(t, name, Fixed, MethodOptions{M: 2, Pure: true})
		if m.Kind() == s.method(t, name, Fixed, MethodOptions{M: 2}).Kind() {
			t.Error("pure attacks are of another kind")
		}
		f := func(z []float64, targets []int32) float64 {
			return sign * (distance64(z, s.g.X.Row(int(targets[0]))) + distance64(z, s.g.X.Row(int(targets[1])))) / 2
		}
		s.check(t, name, m, func(i int, z []float64) (float64, []float64) {
			slope := differences(z, func(z []float64) float64 { return f(z, m.Targets(i)) })
			if i == 0 && name == "QA-" { // may coincide with a target
				slope = differences(z, func(z []float64) float64 { return f(z, m.Targets(i)) })
			}
			return f(z, m.Targets(i)), slope
		})
	}
}

// Scores against a full sort.
func TestQAScores(t *testing.T) {
	retrievaltest.AtEachLevel(t, func(t *testing.T) {
		s := newScene(t, 230, 12, 9)
		for _, name := range []string{"QA+", "QA-"} {
			for _, v := range Variants() {
				m := s.method(t, name, v, MethodOptions{Seed: 2, M: 2})
				out := [][]float64{make([]float64, 9)}
				m.Score(s.z, s.z, out)
				for i, item := range s.batch.Items {
					order := retrievaltest.Order(s.g.X, s.z.Row(i))
					n := 230.0
					if v == Fixed {
						order, n = slices.DeleteFunc(order, func(j int32) bool { return j == int32(item) }), 229
					}
					want := 0.0
					for _, c := range m.Targets(i) {
						want += float64(slices.Index(order, c)) / n / 2
					}
					if math.Abs(out[0][i]-want) > 1e-12 {
						t.Errorf("%s %s: score of query %d is %v, want %v", name, v, i, out[0][i], want)
					}
				}
			}
		}
	})
}

// Targets lie where the specification draws them, and the variants differ where
// the published draw is the query itself or an item at its place.
func TestQATargets(t *testing.T) {
	s := newScene(t, 400, 12, 60)
	own, same := 0, 0
	for _, o := range []MethodOptions{{Seed: 1, M: 3}, {Seed: 1, M: 3, Near: true}} {
		for _, name := range []string{"QA+", "QA-"} {
			p, f := s.method(t, name, Published, o), s.method(t, name, Fixed, o)
			for i, item := range s.batch.Items {
				order := retrievaltest.Order(s.g.X, s.batch.Clean.Row(i))
				others := slices.DeleteFunc(slices.Clone(order), func(j int32) bool { return j == int32(item) })
				from, to := 0, 4
				if name == "QA+" && o.Near {
					to, from = 20, 4
				}
				for r, c := range p.Targets(i) {
					if name == "QA+" && !o.Near {
						if int(c) == item {
							own++
						} else if r == 0 && f.Targets(i)[0] == c {
							same++
						}
						continue
					}
					if at := slices.Index(order[1:], c); at < from || at >= to {
						t.Errorf("%s published: target %d of query %d is at place %d", name, r, i, at)
					}
				}
				for r, c := range f.Targets(i) {
					if int(c) == item {
						t.Errorf("%s fixed: query %d is its own target", name, i)
					}
					if name == "QA+" && !o.Near {
						continue
					}
					if at := slices.Index(others, c); at < from || at >= to {
						t.Errorf("%s fixed: target %d of query %d is at place %d", name, r, i, at)
					}
				}
				if name == "QA-" {
					c := p.Targets(i)
					if c[0] == c[1] || c[1] == c[2] || c[0] == c[2] {
						t.Errorf("QA-: candidates of query %d repeat: %v", i, c)
					}
				}
				if order[0] == int32(item) && (name == "QA-" || o.Near) && !slices.Equal(p.Targets(i), f.Targets(i)) {
					t.Errorf("%s: query %d, its own nearest item: targets %v and %v", name, i, p.Targets(i), f.Targets(i))
				}
			}
		}
	}
	if same < 50 {
		t.Errorf("only %d first targets agree between the variants", same)
	}
	// 60 queries of 3 targets in a gallery of 60 draw themselves now and then.
	small := newScene(t, 60, 4, 60)
	p, f := small.method(t, "QA+", Published, MethodOptions{M: 3}), small.method(t, "QA+", Fixed, MethodOptions{M: 3})
	for i, item := range small.batch.Items {
		self := slices.Contains(p.Targets(i), int32(item))
		if self {
			own++
		}
		if slices.Equal(p.Targets(i), f.Targets(i)) == self {
			t.Errorf("query %d, item %d: targets %v and %v", i, item, p.Targets(i), f.Targets(i))
		}
	}
	if own == 0 {
		t.Error("no query drew itself: the test shows nothing")
	}
}

// The query's copy comes before it: the published variant takes that for itself.
func TestWindowOfADuplicate(t *testing.T) {
	s := newScene(t, 300, 6, 1)
	s.batch.Items[0] = 299 // rows 3, 298 and 299 are the same
	copy(s.batch.Clean.Row(0), s.g.X.Row(299))
	window := func(v Variant) []int32 {
		m := s.method(t, "QA-", v, MethodOptions{M: 3})
		return slices.Sorted(slices.Values(m.Targets(0)))
	}
	order := retrievaltest.Order(s.g.X, s.batch.Clean.Row(0))
	if want := slices.Sorted(slices.Values([]int32{298, 299, order[3]})); !slices.Equal(window(Published), want) {
		t.Errorf("published: %v, want %v", window(Published), want)
	}
	if want := slices.Sorted(slices.Values([]int32{3, 298, order[3]})); !slices.Equal(window(Fixed), want) {
		t.Errorf("fixed: %v, want %v", window(Fixed), want)
	}
}

func mustGallery(t testing.TB, x *array.Array, labels []int32) *retrieval.Gallery {
	t.Helper()
	if labels == nil {
		labels = make([]int32, x.Rows())
	}
	g, err := retrieval.NewGallery(x, labels)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
