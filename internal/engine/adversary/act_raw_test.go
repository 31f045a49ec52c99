package adversary

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// plainRawLoss is the triplet loss, margin 0.2, of rows a, p, n embedded by the linear
// map w: p and n divided by their lengths, a not where raw is set.
func plainRawLoss(x *array.Array, w []float64, d int, raw bool) float64 {
	n := x.Rows() / 3
	embed := func(row int, unit bool) []float64 {
		z, square := make([]float64, d), 0.0
		for k := range z {
			for i, v := range x.Row(row) {
				z[k] += float64(v) * w[i*d+k]
			}
			square += z[k] * z[k]
		}
		for k := range z {
			if unit {
				z[k] /= math.Sqrt(square)
			}
		}
		return z
	}
	between := func(x, y []float64) float64 {
		s := 0.0
		for k := range x {
			s += math.Pow(x[k]-y[k]+1e-6, 2)
		}
		return math.Sqrt(s)
	}
	sum := 0.0
	for i := range n {
		a, p, q := embed(i, !raw), embed(n+i, true), embed(2*n+i, true)
		sum += math.Max(0, between(a, p)-between(a, q)+0.2) / float64(n)
	}
	return sum
}

// Until 2021-07-10 ACT's anchor was not normalized: loss and gradient of the weights
// are those of plain loops with raw anchors, and the pass after is normalized again.
func TestRawAnchors(t *testing.T) {
	const n, d = 4, 5
	model, err := nn.Build(nn.Spec{Name: "linear", Height: 3, Width: 2, Channels: 1, Embedding: d, Normalize: true}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	weights := model.Params()[0]
	for i := range weights.Value.Data {
		weights.Value.Data[i] *= 3
	}
	r := rng.New(2, "images")
	x := array.New(9, 3, 2, 1)
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	in := &Batch{Images: x, Labels: make([]int32, 9), IDs: ids(9), Tuples: &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 3, P: 4, N: 5}, {A: 6, P: 7, N: 8}, {A: 1, P: 8, N: 3}}}}
	objective, err := loss.NewTriplet(loss.TripletDefaults())
	if err != nil {
		t.Fatal(err)
	}
	for v, raw := range map[Implementation]bool{Robrank: false, Robrank2021: true} {
		out, _, err := newACT(t, v, nil).Craft(model, in, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		z := model.Embed(out.Images, nn.Train)
		dz := array.New(z.Shape...)
		got, err := objective.Eval(z, out.Tuples, dz)
		if err != nil {
			t.Fatal(err)
		}
		clear(weights.Grad.Data)
		model.Backward(dz, nn.Weights)
		w := make([]float64, len(weights.Value.Data))
		for i, v := range weights.Value.Data {
			w[i] = float64(v)
		}
		want := plainRawLoss(out.Images, w, d, raw)
		if other := plainRawLoss(out.Images, w, d, !raw); math.Abs(got.Loss-want) > 1e-5 || math.Abs(want-other) < 1e-2 {
			t.Errorf("%s: loss %v, want %v (the other one: %v)", v, got.Loss, want, other)
		}
		for i := range w {
			const h = 1e-6
			w[i] += h
			up := plainRawLoss(out.Images, w, d, raw)
			w[i] -= 2 * h
			slope := (up - plainRawLoss(out.Images, w, d, raw)) / (2 * h)
			w[i] += h
			if math.Abs(float64(weights.Grad.Data[i])-slope) > 1e-4*(1+math.Abs(slope)) {
				t.Errorf("%s: gradient of weight %d is %v, want %v", v, i, weights.Grad.Data[i], slope)
			}
		}
		next := model.Embed(out.Images, nn.Eval)
		for i := range next.Rows() {
			s := 0.0
			for _, v := range next.Row(i) {
				s += float64(v) * float64(v)
			}
			if math.Abs(s-1) > 1e-5 {
				t.Errorf("%s: row %d of the next pass has length %v", v, i, math.Sqrt(s))
			}
		}
	}
	m, other := scene(64, 9)
	other.Tuples = someTriplets(9)
	if _, _, err := newACT(t, Robrank2021, nil).Craft(m, other, 1, 1); err == nil {
		t.Error("a model that always normalizes was accepted")
	}
}
