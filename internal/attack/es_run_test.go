package attack

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// ES by the runner against an attack, scores and means in plain float64 loops.
func TestESAgainstPlainLoops(t *testing.T) {
	const n, batch = 23, 8
	m := newModel(1, 6, 10, 4)
	s, labels := newSet(2, n, 4)
	labels[5] = 77 // nobody else: not attacked
	g, err := retrieval.NewGallery(galleryOf(m, s), labels)
	if err != nil {
		t.Fatal(err)
	}
	p := Profile{Name: "tiny", Eps: 0.1, Step: 0.02, Iterations: 8}
	r, err := Run(context.Background(), m, s, g, Options{Attacks: []string{"ES"}, PGD: p.PGD(), Batch: batch, Together: 6, Pictures: 11})
	if err != nil {
		t.Fatal(err)
	}
	if r.Excluded != 1 || len(r.Queries) != n-1 || slices.Contains(r.Queries, 5) {
		t.Fatalf("queries %v, excluded %d", r.Queries, r.Excluded)
	}
	want := map[Variant][2][]float64{Published: {make([]float64, n-1), make([]float64, n-1)}, Fixed: {make([]float64, n-1), make([]float64, n-1)}}
	clean := make([]float64, n-1)
	linf, apart := 0.0, 0
	for i, q := range r.Queries {
		x0 := wide(s.x.Row(q))
		_, _, q0 := m.plain(x0)
		images, lasts := map[Variant][]float64{}, map[Variant][]float64{}
		var published, fixed float64
		for _, v := range Variants() {
			var nudges []float64
			if v == Fixed {
				nudges = plainNudges(0, q, len(q0))
			}
			previous, last, x := m.plainES(x0, nudges, p.Eps, p.Step, p.Iterations)
			images[v], lasts[v] = x, last
			for k := range q0 {
				if v == Fixed {
					fixed += (last[k] - q0[k]) * (last[k] - q0[k])
				} else {
					published += (previous[k] - q0[k] + 1e-6) * (previous[k] - q0[k] + 1e-6)
				}
			}
			pictures, most := r.PicturesOf("ES", v), 0.0
			at := slices.Index(pictures.Kept, i)
			for k := range x {
				most = math.Max(most, math.Abs(x[k]-x0[k]))
				if at >= 0 && (math.Abs(float64(pictures.Adversarial.Row(at)[k])-x[k]) > 1e-5 || pictures.Clean.Row(at)[k] != s.x.Row(q)[k]) {
					t.Fatalf("%s: picture %d differs in pixel %d", v, at, k)
				}
			}
			linf += most / (2 * (n - 1))
		}
		if !slices.Equal(images[Published], images[Fixed]) {
			apart++
		}
		want[Published][0][i], want[Fixed][0][i] = math.Sqrt(published), math.Sqrt(fixed)
		if labels[plainNearest(g.X, q0, q)] == labels[q] {
			clean[i] = 1
		}
		for v, last := range lasts {
			if labels[plainNearest(g.X, last, q)] == labels[q] { // no duplicates: both mask the same
				want[v][1][i] = 1
			}
		}
	}
	if apart == 0 {
		t.Error("both variants craft the same images: the test shows nothing of the nudge")
	}
	if slices.Equal(clean, want[Fixed][1]) {
		t.Fatal("the attack flips no query: the test shows nothing")
	}
	for _, s := range r.Scored {
		for i := range n - 1 {
			for k := range 2 {
				if got, want := s.Adversarial[k][i], want[s.Variant][k][i]; math.Abs(got-want) > 1e-5 {
					t.Errorf("%s, query %d: %s is %v, want %v", s.Variant, i, s.Keys[k], got, want)
				}
			}
			if s.Clean[1][i] != clean[i] {
				t.Errorf("%s, query %d: clean recall %v, want %v", s.Variant, i, s.Clean[1][i], clean[i])
			}
		}
		right, ok := s.Right()
		sum := 0.0
		for _, v := range clean {
			sum += v
		}
		if !ok || float64(len(right)) != sum {
			t.Errorf("%s: %d right, want %v", s.Variant, len(right), sum)
		}
	}
	a := r.Attacks[0]
	if math.Abs(a.Radius.MeanLinf-linf) > 1e-6 || a.Shared != 0 || a.Crafted != 2*(n-1) {
		t.Errorf("%+v, mean radius %v", a, linf)
	}
	if want := (record.Cost{Forward: 22 * (1 + 2*(8+1)), Backward: 2 * 22 * 8}); r.Cost != want {
		t.Errorf("cost %+v, want %+v", r.Cost, want)
	}
	cosine := 0.0
	for i := range n {
		for j := range n {
			if i != j {
				for k, v := range g.X.Row(i) {
					cosine += float64(v) * float64(g.X.Row(j)[k]) / (n * (n - 1))
				}
			}
		}
	}
	if math.Abs(r.MeanCosine-cosine) > 1e-5 || r.NotNormalized || r.Collapsed {
		t.Errorf("mean cosine %v, want %v; %v %v", r.MeanCosine, cosine, r.NotNormalized, r.Collapsed)
	}
}

// Images 0 and 3 are the same picture under two labels. The query 3 finds the copy
// at 0 nearest to its clean embedding: the published score masks that one and so
// meets itself; by index, it is masked and the wrong label found.
func TestESMasksItsOwnCopy(t *testing.T) {
	m := newModel(3, 6, 8, 3)
	s, _ := newSet(4, 6, 3)
	copy(s.x.Row(3), s.x.Row(0))
	g, err := retrieval.NewGallery(galleryOf(m, s), []int32{0, 0, 0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Attacks: []string{"ES"}, PGD: Profile{Name: "still", Eps: 0, Step: 0.02, Iterations: 8}.PGD()}
	r, err := Run(context.Background(), m, s, g, o)
	if err != nil {
		t.Fatal(err)
	}
	published, fixed := r.Scored[0], r.Scored[1]
	if published.Adversarial[1][3] != 1 || fixed.Adversarial[1][3] != 0 || fixed.Clean[1][3] != 0 {
		t.Errorf("published %v, fixed %v and %v", published.Adversarial[1][3], fixed.Adversarial[1][3], fixed.Clean[1][3])
	}
	if d := fixed.Mean(fixed.Adversarial[0], nil); d != 0 {
		t.Errorf("eps 0: ES:D %v", d)
	}
	if d := published.Mean(published.Adversarial[0], nil); math.Abs(d-1e-6*math.Sqrt(3)) > 1e-12 {
		t.Errorf("eps 0: published ES:D %v", d)
	}
}

func TestSuiteSharesExactly(t *testing.T) {
	m, s, g := network(t, true)
	o := Options{Attacks: available(t), PGD: Profile{Name: "tiny", Eps: 0.2, Step: 0.05, Iterations: 2}.PGD(), Queries: 12, Pictures: 12, PictureAttacks: available(t)}
	both, err := Run(context.Background(), m, s, g, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range Variants() {
		o.Variants = []Variant{v}
		alone, err := Run(context.Background(), m, s, g, o)
		if err != nil {
			t.Fatal(err)
		}
		if digest(both, v) != digest(alone, v) {
			t.Errorf("%s differs from itself alone", v)
		}
	}
}

// A model whose embeddings are all the same, and one whose are not of length 1:
// numbers that are documented, and said to mean nothing.
func TestSuiteOnModelsThatMeanNothing(t *testing.T) {
	for _, collapsed := range []bool{true, false} {
		m, s, g := network(t, collapsed)
		if collapsed {
			for _, p := range m.Params() {
				if p.Name == "fc2.weight" {
					p.Value.Zero()
				}
				if p.Name == "fc2.bias" {
					for k := range p.Value.Data {
						p.Value.Data[k] = float32(k + 1)
					}
				}
			}
			var err error
			if g, err = retrieval.NewGallery(m.Embed(s.x, nn.Eval).Clone(), g.Labels); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Run(context.Background(), m, s, g, Options{Attacks: available(t), PGD: Profile{Name: "tiny", Eps: 0.2, Step: 0.05, Iterations: 2}.PGD(), Queries: 12})
		if err != nil {
			t.Fatal(err)
		}
		if r.Collapsed != collapsed || r.NotNormalized == collapsed {
			t.Errorf("collapsed %v, not normalized %v", r.Collapsed, r.NotNormalized)
		}
		for _, v := range r.Scored {
			for k, key := range v.Keys {
				for i, x := range v.Adversarial[k] {
					if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(v.Clean[k][i]) {
						t.Errorf("%s %s of query %d: %v, clean %v", v.Variant, key, i, x, v.Clean[k][i])
					}
				}
				if !collapsed {
					continue
				}
				mean := v.Mean(v.Adversarial[k], nil)
				switch key {
				case "TMA":
					if math.Abs(mean-1) > 1e-6 {
						t.Errorf("%s: TMA %v", v.Variant, mean)
					}
				case "ES:D":
					if mean > 1e-4 {
						t.Errorf("%s: ES:D %v", v.Variant, mean)
					}
				case "CA+":
					if mean != 0 { // nothing is strictly nearer
						t.Errorf("%s: CA+ %v", v.Variant, mean)
					}
				}
				if !slices.Equal(v.Adversarial[k], v.Clean[k]) && key != "ES:D" {
					t.Errorf("%s: %s is not the clean one", v.Variant, key)
				}
			}
		}
		for _, a := range r.Attacks {
			if collapsed && a.ZeroGradient != 1 {
				t.Errorf("%s: %v of the gradients vanished", a.Attack, a.ZeroGradient)
			}
		}
	}
}

// available is the suite.
func available(t *testing.T) []string {
	t.Helper()
	suite, err := Suite("ers")
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

// network is a small C2F2 with 30 images of 3 classes.
func network(t *testing.T, normalize bool) (*nn.Model, set, *retrieval.Gallery) {
	t.Helper()
	m, err := nn.Build(nn.Spec{Name: "c2f2", Height: 8, Width: 8, Channels: 1, Embedding: 6, Normalize: normalize}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(2, "images")
	x, labels := array.New(30, 8, 8, 1), make([]int32, 30)
	for i := range 30 {
		labels[i] = int32(i % 3)
		for k := range x.Row(i) {
			x.Row(i)[k] = float32(r.Uniform(0, 0.5))
			if k%3 == i%3 {
				x.Row(i)[k] += 0.5
			}
		}
	}
	g, err := retrieval.NewGallery(m.Embed(x, nn.Eval).Clone(), labels)
	if err != nil {
		t.Fatal(err)
	}
	return m, set{x, -1}, g
}

func TestImagesOfAnotherSize(t *testing.T) {
	m, s, g := network(t, true)
	s.x.Shape = []int{30, 4, 16, 1}
	_, err := Run(context.Background(), m, s, g, Options{Attacks: []string{"ES"}, PGD: Profile{Name: "tiny", Eps: 0.2, Step: 0.05, Iterations: 2}.PGD()})
	if err == nil || !strings.Contains(err.Error(), "needs images (batch, 8, 8, 1)") {
		t.Error(err)
	}
}
