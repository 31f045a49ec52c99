package attack

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// field is a gallery of labeled embeddings and a batch of its items.
type field struct {
	g     *retrieval.Gallery
	batch *Batch
	z     *array.Array // (B, D) embeddings of perturbed images
}

type fieldOptions struct {
	n, d, labels, queries int
	raw                   bool    // not normalized
	spread                float64 // of items about the center of their label
	copies                bool    // items 1 and 2 are item 0, of another label each
}

func newField(t testing.TB, seed uint64, o fieldOptions) field {
	t.Helper()
	r := rng.New(seed, "field")
	x, labels := array.New(o.n, o.d), make([]int32, o.n)
	centers := array.New(o.labels, o.d)
	for i := range centers.Data {
		centers.Data[i] = float32(r.NormFloat64())
	}
	for j := range o.n {
		labels[j] = int32(r.IntN(o.labels))
		if j < 2*o.labels {
			labels[j] = int32(j % o.labels) // no label has one item
		}
		for k := range x.Row(j) {
			x.Row(j)[k] = centers.Row(int(labels[j]))[k] + float32(o.spread*r.NormFloat64())
		}
	}
	if o.copies {
		copy(x.Row(1), x.Row(0))
		copy(x.Row(2), x.Row(0))
	}
	if !o.raw {
		normalize(x)
	}
	f := field{g: mustGallery(t, x, labels), batch: &Batch{Clean: array.New(o.queries, o.d)}, z: array.New(o.queries, o.d)}
	for i := range o.queries {
		item := i
		if i > 4 {
			item = r.IntN(o.n)
		}
		f.batch.Items = append(f.batch.Items, item)
		copy(f.batch.Clean.Row(i), x.Row(item))
		for k, v := range x.Row(item) {
			f.z.Row(i)[k] = v + float32(0.3*r.NormFloat64())
		}
	}
	if !o.raw {
		normalize(f.z)
	}
	return f
}

func normalize(x *array.Array) {
	for i := range x.Rows() {
		s := 0.0
		for _, v := range x.Row(i) {
			s += float64(v) * float64(v)
		}
		for k, v := range x.Row(i) {
			x.Row(i)[k] = float32(float64(v) / math.Sqrt(s))
		}
	}
}

// fields are galleries of every kind that the attacks of this file's owner meet.
func fields(t testing.TB) map[string]field {
	return map[string]field{
		"normalised": newField(t, 1, fieldOptions{n: 60, d: 8, labels: 5, queries: 12, spread: 0.5}),
		"raw":        newField(t, 2, fieldOptions{n: 60, d: 8, labels: 5, queries: 12, spread: 2, raw: true}),
		"copies":     newField(t, 3, fieldOptions{n: 30, d: 4, labels: 3, queries: 9, spread: 0.5, copies: true}),
		"two labels": newField(t, 4, fieldOptions{n: 9, d: 3, labels: 2, queries: 5, spread: 3}),
	}
}

func mustMethod(t testing.TB, name string, g *retrieval.Gallery, v Variant, o MethodOptions) Method {
	t.Helper()
	m, err := NewMethod(name, g, v, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustAim(t testing.TB, m Method, b *Batch, draw int) {
	t.Helper()
	if err := m.Aim(b, draw); err != nil {
		t.Fatal(err)
	}
}

func evalAll(t testing.TB, m Method, z *array.Array) (per []float64, grad *array.Array) {
	t.Helper()
	per, grad = make([]float64, z.Rows()), array.New(z.Shape...)
	for i := range grad.Data {
		grad.Data[i] = float32(math.NaN()) // Eval overwrites
	}
	if err := m.Eval(z, per, grad); err != nil {
		t.Fatal(err)
	}
	return per, grad
}

func scoresOf(m Method, z, previous *array.Array) [][]float64 {
	out := make([][]float64, len(m.Scores()))
	for s := range out {
		out[s] = make([]float64, z.Rows())
	}
	m.Score(z, previous, out)
	return out
}

func variants() []Variant { return []Variant{Published, Fixed} }

// checkObjective compares objectives with want(i) and gradients with central
// differences of the objective along random directions.
func checkObjective(t *testing.T, m Method, z *array.Array, want func(i int, z []float32) float64) {
	t.Helper()
	per, grad := evalAll(t, m, z)
	r := rng.New(5, "directions")
	const h = 1e-3
	for i := range z.Rows() {
		w := want(i, z.Row(i))
		if math.Abs(per[i]-w) > 1e-6*(1+math.Abs(w)) {
			t.Errorf("query %d: objective %v, want %v", i, per[i], w)
		}
		for range 3 {
			plus, minus := slices.Clone(z.Row(i)), slices.Clone(z.Row(i))
			slope, length := 0.0, 0.0
			for k := range plus {
				u := r.NormFloat64()
				plus[k] += float32(h * u)
				minus[k] -= float32(h * u)
				d := float64(plus[k]) - float64(minus[k])
				slope += float64(grad.Row(i)[k]) * d
				length += d * d
			}
			got := want(i, plus) - want(i, minus)
			if math.Abs(got-slope) > 2e-2*math.Sqrt(length) {
				t.Errorf("query %d: difference %v, gradient says %v", i, got, slope)
			}
		}
	}
	none := make([]float64, z.Rows())
	if err := m.Eval(z, none, nil); err != nil || !slices.Equal(none, per) {
		t.Errorf("without gradient: %v, %v", err, none)
	}
}

func ours() []string { return []string{"TMA", "ES", "LTM", "GTM"} }

// The clean value of every recall is that of a loop which leaves out the item
// itself (fixed) or the first item nearest to the clean embedding (published).
func TestRecallScores(t *testing.T) {
	for what, f := range fields(t) {
		for _, name := range []string{"ES", "LTM", "GTM"} {
			for _, v := range variants() {
				m := mustMethod(t, name, f.g, v, MethodOptions{})
				mustAim(t, m, f.batch, 0)
				for _, z := range []*array.Array{f.z, f.batch.Clean} {
					out := scoresOf(m, z, z)
					got := out[len(out)-1]
					for i, item := range f.batch.Items {
						own := item
						if v == Published {
							own = retrievaltest.Extreme(f.g.X, f.batch.Clean.Row(i), 1, func(int) bool { return true })
						}
						top := retrievaltest.Extreme(f.g.X, z.Row(i), 1, func(j int) bool { return j != own })
						want := 0.0
						if f.g.Labels[top] == f.g.Labels[item] {
							want = 1
						}
						if got[i] != want {
							t.Errorf("%s, %s %s, query %d: %v, want %v", what, name, v, i, got[i], want)
						}
					}
				}
			}
		}
	}
}

// Item 1 is a copy of item 0 under another label. The published mask takes 0 for
// the copy of query 1 and leaves 1 itself: a hit without another of its label.
func TestPublishedMaskTakesADuplicate(t *testing.T) {
	x, _ := array.Of([]float32{0, 0, 0, 0, 5, 5, 9, 9}, 4, 2)
	g := mustGallery(t, x, []int32{7, 8, 7, 8})
	b := &Batch{Items: []int{1}, Clean: x.Slice(1, 2)}
	for v, want := range map[Variant]float64{Published: 1, Fixed: 0} {
		for _, name := range []string{"ES", "LTM", "GTM"} {
			m := mustMethod(t, name, g, v, MethodOptions{})
			mustAim(t, m, b, 0)
			out := scoresOf(m, b.Clean, b.Clean)
			if got := out[len(out)-1][0]; got != want {
				t.Errorf("%s %s: %v, want %v", name, v, got, want)
			}
		}
	}
}

// All embeddings are one point: no NaN anywhere, no gradient but that of ES's
// nudge and GTM's 1e-6.
func TestCollapsedGallery(t *testing.T) {
	for _, value := range []float32{0, 0.5} {
		x := array.New(12, 4)
		for i := range x.Data {
			x.Data[i] = value
		}
		g := mustGallery(t, x, []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2})
		b := &Batch{Items: []int{0, 1, 5, 11}, Clean: x.Slice(0, 4)}
		for _, name := range ours() {
			for _, v := range variants() {
				m := mustMethod(t, name, g, v, MethodOptions{})
				mustAim(t, m, b, 0)
				if s, ok := m.(adversary.Stepper); ok {
					s.Step(0)
				}
				per, grad := evalAll(t, m, b.Clean)
				for i, p := range per {
					for k, d := range grad.Row(i) {
						if d-d != 0 || name == "LTM" && d != 0 {
							t.Errorf("%s %s at %v: gradient %v in coordinate %d", name, v, value, d, k)
						}
					}
					if !(math.Abs(p) <= 1) || name == "LTM" && p != 0 {
						t.Errorf("%s %s at %v: objective %v", name, v, value, p)
					}
				}
				for s, list := range scoresOf(m, b.Clean, b.Clean) {
					for i, got := range list {
						if !(got >= 0 && got <= 1+1e-12) {
							t.Errorf("%s %s at %v: score %d of query %d is %v", name, v, value, s, i, got)
						}
					}
				}
			}
		}
	}
}

func TestTopErrors(t *testing.T) {
	f := newField(t, 1, fieldOptions{n: 40, d: 6, labels: 4, queries: 6, spread: 0.5})
	one := mustGallery(t, f.g.X, nil)
	for _, name := range []string{"LTM", "GTM"} {
		for _, v := range variants() {
			if m, err := NewMethod(name, one, v, MethodOptions{}); err == nil || m != nil || !strings.Contains(err.Error(), "all 40 images of the gallery have label 0") {
				t.Errorf("%s %s: %v", name, v, err)
			}
		}
	}
	bad := f.batch.Clean.Clone()
	bad.Row(1)[0] = float32(math.Inf(1))
	for _, name := range ours() {
		for _, v := range variants() {
			m := mustMethod(t, name, f.g, v, MethodOptions{})
			for want, b := range map[string]*Batch{
				"query 1 is item 40 of 40 images":         {Items: []int{0, 40}, Clean: f.batch.Clean.Slice(0, 2)},
				"query 0 is item -1":                      {Items: []int{-1}, Clean: f.batch.Clean.Slice(0, 1)},
				"clean embeddings is":                     {Items: []int{0, 1}, Clean: f.batch.Clean.Slice(0, 1)},
				"the clean embedding of item 1 is not fi": {Items: []int{0, 1}, Clean: bad.Slice(0, 2)},
			} {
				if err := m.Aim(b, 0); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s %s: %v, want %q", name, v, err, want)
				}
			}
		}
	}
	alone := slices.Clone(f.g.Labels)
	alone[3] = 99
	g := mustGallery(t, f.g.X, alone)
	b := &Batch{Items: []int{3}, Clean: f.g.X.Slice(3, 4)}
	if err := mustMethod(t, "LTM", g, Fixed, MethodOptions{}).Aim(b, 0); err == nil || !strings.Contains(err.Error(), "item 3 is compared with 39 items, 0 of its label 99") {
		t.Error(err)
	}
}
