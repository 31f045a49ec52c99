package attack

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/attack/retrieval"
	"tercet/internal/attack/retrieval/retrievaltest"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// plainLTM is the hinge of one query, and whether the choice of its two items is
// clear: next best ones at least gap away.
func plainLTM(g *retrieval.Gallery, item int, z []float32, self bool, gap float64) (hinge float64, clear bool) {
	var same, other []float64
	for j := range g.Len() {
		d := math.Sqrt(retrievaltest.Square(g.X.Row(j), z))
		switch {
		case g.Labels[j] != g.Labels[item]:
			other = append(other, d)
		case self || j != item:
			same = append(same, d)
		}
	}
	slices.Sort(same)
	slices.Sort(other)
	clear = len(same) < 2 || same[1]-same[0] > gap
	n := len(other)
	clear = clear && (n < 2 || other[n-1]-other[n-2] > gap)
	return math.Max(0, other[n-1]-same[0]), clear
}

func TestLTMObjective(t *testing.T) {
	for what, f := range fields(t) {
		for _, v := range variants() {
			m := mustMethod(t, "LTM", f.g, v, MethodOptions{})
			mustAim(t, m, f.batch, 0)
			// Differences tell the gradient where the choice does not change with
			// them: the other queries are moved until it is clear.
			z := f.z.Clone()
			r := rng.New(3, "move")
			for i, item := range f.batch.Items {
				for {
					if _, clear := plainLTM(f.g, item, z.Row(i), v == Published, 0.02); clear {
						break
					}
					for k := range z.Row(i) {
						z.Row(i)[k] += float32(0.1 * r.NormFloat64())
					}
				}
			}
			t.Run(what+" "+string(v), func(t *testing.T) {
				checkObjective(t, m, z, func(i int, z []float32) float64 {
					h, _ := plainLTM(f.g, f.batch.Items[i], z, v == Published, 0)
					return h
				})
			})
			for _, at := range []*array.Array{f.z, f.batch.Clean} {
				per, _ := evalAll(t, m, at)
				for i, got := range per {
					if want, _ := plainLTM(f.g, f.batch.Items[i], at.Row(i), v == Published, 0); math.Abs(got-want) > 1e-9 {
						t.Errorf("%s %s, query %d: %v, want %v", what, v, i, got, want)
					}
				}
			}
		}
	}
}

// At the clean embedding the published near item is the query itself, also
// where that is off by a rounding: only the far one has a gradient. The fixed
// near item is another one.
func TestLTMAtTheCleanEmbedding(t *testing.T) {
	x, _ := array.Of([]float32{1, 0, 1, 1, 0, 5}, 3, 2)
	g := mustGallery(t, x, []int32{0, 0, 1})
	far := []float64{1 / math.Sqrt(26), -5 / math.Sqrt(26)} // (z - (0, 5)) / d
	for _, off := range []float32{0, 6e-8} {
		b := &Batch{Items: []int{0}, Clean: x.Slice(0, 1).Clone()}
		b.Clean.Data[0] -= off
		published := mustMethod(t, "LTM", g, Published, MethodOptions{})
		mustAim(t, published, b, 0)
		per, grad := evalAll(t, published, b.Clean)
		if math.Abs(per[0]-math.Sqrt(26)) > 1e-6 || math.Abs(float64(grad.Data[0])-far[0]) > 1e-6 || math.Abs(float64(grad.Data[1])-far[1]) > 1e-6 {
			t.Errorf("published, off by %v: %v, %v", off, per, grad.Data)
		}
		fixed := mustMethod(t, "LTM", g, Fixed, MethodOptions{})
		mustAim(t, fixed, b, 0)
		per, grad = evalAll(t, fixed, b.Clean) // pushed off (1, 1): gradient -(z - (1, 1)) / 1
		if math.Abs(per[0]-math.Sqrt(26)+1) > 1e-6 || math.Abs(float64(grad.Data[0])-far[0]) > 1e-6 || math.Abs(float64(grad.Data[1])-far[1]-1) > 1e-6 {
			t.Errorf("fixed, off by %v: %v, %v", off, per, grad.Data)
		}
	}
	if published, fixed := mustMethod(t, "LTM", g, Published, MethodOptions{}), mustMethod(t, "LTM", g, Fixed, MethodOptions{}); published.Kind() == fixed.Kind() {
		t.Error("the variants share images although their objectives differ")
	}
}

// Beyond the hinge there is nothing left to do.
func TestLTMBeyondTheHinge(t *testing.T) {
	x, _ := array.Of([]float32{10, 0, 11, 0, 0, 0, 0, 1}, 4, 2)
	g := mustGallery(t, x, []int32{0, 0, 1, 1})
	m := mustMethod(t, "LTM", g, Fixed, MethodOptions{})
	mustAim(t, m, &Batch{Items: []int{0}, Clean: x.Slice(0, 1)}, 0)
	per, grad := evalAll(t, m, x.Slice(2, 3))
	if per[0] != 0 || grad.Data[0] != 0 || grad.Data[1] != 0 {
		t.Errorf("%v, %v", per, grad.Data)
	}
}

// Of equally far items the first is taken: (0, 1) and (0, -1) about z = 0.
func TestLTMTies(t *testing.T) {
	x, _ := array.Of([]float32{0.5, 0, -0.5, 0, 0, 1, 0, -1, 0.1, 0}, 5, 2)
	g := mustGallery(t, x, []int32{0, 0, 1, 2, 0})
	m := mustMethod(t, "LTM", g, Published, MethodOptions{})
	z := array.New(1, 2)
	b := &Batch{Items: []int{4}, Clean: x.Slice(4, 5)}
	mustAim(t, m, b, 0)
	_, grad := evalAll(t, m, z)
	if grad.Data[0] != 1 || grad.Data[1] != -1 { // off (0.1, 0), towards (0, 1)
		t.Error(grad.Data)
	}
	g = mustGallery(t, x, []int32{0, 0, 1, 2, 3})
	m = mustMethod(t, "LTM", g, Published, MethodOptions{})
	mustAim(t, m, &Batch{Items: []int{1}, Clean: x.Slice(1, 2)}, 0)
	_, grad = evalAll(t, m, z)
	if grad.Data[0] != 1 || grad.Data[1] != -1 { // off (0.5, 0), the first of two
		t.Error(grad.Data)
	}
}

func BenchmarkLTM(b *testing.B) {
	f := newField(b, 1, fieldOptions{n: 10000, d: 512, labels: 10, queries: 128, spread: 0.5})
	m := mustMethod(b, "LTM", f.g, Fixed, MethodOptions{}).(*ltm)
	mustAim(b, m, f.batch, 0)
	per, grad := make([]float64, 128), array.New(128, 512)
	d := make([]float32, 128*10000)
	b.Run("distances", func(b *testing.B) {
		for b.Loop() {
			f.g.Distances(f.z, d)
		}
	})
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			_ = m.Eval(f.z, per, grad)
		}
	})
}
