package nn

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// metricModel returns a mahalanobis model on 3 x 2 images with 4 features, and what it
// was set to.
func metricModel(t *testing.T, r *rng.Stream) (m *Model, mean, comps, scale, l []float64) {
	t.Helper()
	m = build(t, Spec{Name: "mahalanobis", Height: 3, Width: 2, Channels: 1, Embedding: 4})
	draw := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = r.NormFloat64()
		}
		return out
	}
	mean, comps, scale, l = draw(6), draw(24), draw(4), draw(16)
	if err := m.SetProjection(mean, comps, scale); err != nil {
		t.Fatal(err)
	}
	if err := m.SetMetric(l); err != nil {
		t.Fatal(err)
	}
	return m, mean, comps, scale, l
}

// Embeddings against the two sums written out.
func TestMahalanobisModel(t *testing.T) {
	r := rng.New(1, "mahalanobis")
	m, mean, comps, scale, l := metricModel(t, r)
	x := images(5, []int{3, 2, 1}, r.Float64)
	z := m.Embed(x, Eval)
	for b := range 5 {
		y := make([]float64, 4)
		for k := range y {
			for j := range 6 {
				y[k] += scale[k] * comps[k*6+j] * (float64(x.Row(b)[j]) - mean[j])
			}
		}
		for k := range 4 {
			want := 0.0
			for c := range y {
				want += l[k*4+c] * y[c]
			}
			if got := float64(z.Row(b)[k]); math.Abs(got-want) > 1e-5 {
				t.Errorf("row %d, number %d: %v, want %v", b, k, got, want)
			}
		}
	}
	if m.ParamCount() != 16 || m.Dim() != 4 || len(m.Params()) != 3 {
		t.Errorf("%d trained numbers, D %d, %d tensors; want 16, 4, 3", m.ParamCount(), m.Dim(), len(m.Params()))
	}
}

// Both gradients against those of the linear map, and the frozen part stays.
func TestMahalanobisGradients(t *testing.T) {
	r := rng.New(2, "mahalanobis")
	m, _, comps, scale, l := metricModel(t, r)
	x := images(3, []int{3, 2, 1}, r.Float64)
	frozen := slices.Clone(m.Params()[0].Value.Data)
	m.Embed(x, Frozen)
	dz := images(3, []int{4}, r.NormFloat64)
	dx := m.Backward(dz, Weights|Input)
	for b := range 3 {
		for j := range 6 {
			want := 0.0
			for k := range 4 {
				for c := range 4 {
					want += float64(dz.Row(b)[k]) * l[k*4+c] * scale[c] * comps[c*6+j]
				}
			}
			if got := float64(dx.Data[b*6+j]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("dx of row %d, number %d: %v, want %v", b, j, got, want)
			}
		}
	}
	// dL/dW_cr = sum_b y_bc dz_br, with the features y of an identity L.
	grad := slices.Clone(m.Params()[2].Grad.Data)
	if err := m.SetMetric(nil); err != nil {
		t.Fatal(err)
	}
	y := m.Embed(x, Eval)
	for c := range 4 {
		for k := range 4 {
			want := 0.0
			for b := range 3 {
				want += float64(y.Row(b)[c]) * float64(dz.Row(b)[k])
			}
			if got := float64(grad[c*4+k]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("gradient of W[%d][%d]: %v, want %v", c, k, got, want)
			}
		}
	}
	if m.Params()[0].Trained() || m.Params()[1].Trained() || !slices.Equal(frozen, m.Params()[0].Value.Data) {
		t.Error("the projection is trained")
	}
}

func TestMahalanobisBitsAndThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	var first []float32
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		r := rng.New(3, "mahalanobis")
		m, _, _, _, _ := metricModel(t, r)
		z := m.Embed(images(300, []int{3, 2, 1}, r.Float64), Eval)
		if first == nil {
			first = slices.Clone(z.Data)
		} else if !sameBits(first, z.Data) {
			t.Error("3 threads give other bits than 1")
		}
	}
}

func TestMahalanobisRefuses(t *testing.T) {
	m := build(t, Spec{Name: "mahalanobis", Height: 3, Width: 2, Channels: 1, Embedding: 4})
	six, four := make([]float64, 6), make([]float64, 4)
	for name, err := range map[string]error{
		"mean":       m.SetProjection(four, make([]float64, 24), four),
		"components": m.SetProjection(six, make([]float64, 23), four),
		"scale":      m.SetProjection(six, make([]float64, 24), six),
		"identity":   m.SetProjection(six, nil, four),
		"metric":     m.SetMetric(four),
	} {
		if !errors.Is(err, array.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := build(t, Spec{Name: "linear", Height: 3, Width: 2, Channels: 1, Embedding: 4})
	if other.SetMetric(nil) == nil || other.SetProjection(six, make([]float64, 24), four) == nil {
		t.Error("another model was set")
	}
	whole := build(t, Spec{Name: "mahalanobis", Height: 3, Width: 2, Channels: 1})
	if err := whole.SetProjection(six, nil, []float64{2, 2, 2, 2, 2, 2}); err != nil || whole.Dim() != 6 {
		t.Fatalf("D %d, %v", whole.Dim(), err)
	}
	if err := whole.SetMetric(nil); err != nil {
		t.Fatal(err)
	}
	x := images(1, []int{3, 2, 1}, rng.New(4, "x").Float64)
	for i, v := range whole.Embed(x, Eval).Data {
		if v != 2*x.Data[i] {
			t.Errorf("number %d is %v, want %v", i, v, 2*x.Data[i])
		}
	}
}
