package nn

import (
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/tensors"
)

// deviations returns how far got, the tensor in PyTorch's order, is off what was stored
// of it: of its norm, and of each number relative to the largest.
func (g *torchvision) deviations(t *testing.T, name string, got []float32, want sampled) []float64 {
	t.Helper()
	norm := 0.0
	for _, v := range got {
		norm += float64(v) * float64(v)
	}
	var places []int
	for _, u := range g.hashed("places "+name, 8) {
		places = append(places, int(u*float64(len(got))))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	out := []float64{math.Abs(math.Sqrt(norm)/want.Norm - 1)}
	numbers := want.At.numbers(t)
	if len(numbers) != len(places) {
		t.Fatalf("%s: %d numbers stored, want %d", name, len(numbers), len(places))
	}
	for k, v := range numbers {
		out = append(out, math.Abs(float64(got[places[k]])-v)/want.Max)
	}
	return out
}

// The gradients of a triplet loss are PyTorch's in float64, with stored statistics and with those
// of the batch, and so are the running statistics afterwards.
func TestResNetGradientsAgainstTorchvision(t *testing.T) {
	// Where rounding moves a number across the corner of a ReLU, gradients jump: PyTorch's
	// own float32 is off by up to 0.2 on other batches than the stored ones. So half of the
	// numbers have to be near, and all of them not far.
	const near, far = 1e-3, 2e-2
	t.Parallel()
	g := readTorchvision(t)
	for name, net := range g.Nets {
		for mode, want := range map[Mode]gradientsOf{Frozen: net.Frozen, Train: net.Train} {
			t.Run(name+map[Mode]string{Frozen: "/frozen", Train: "/train"}[mode], func(t *testing.T) {
				t.Parallel()
				median, most := g.gradients(t, Spec{Name: name, Embedding: 64, Normalize: true}, mode, want)
				if !(median <= near && most <= far) {
					t.Errorf("gradients are off by %.3g, at most %.3g; want %g and %g", median, most, near, far)
				}
			})
		}
	}
}

// gradients compares the loss and the running statistics of a step with want, and
// returns how far its gradients are off, in the median and at most.
func (g *torchvision) gradients(t *testing.T, s Spec, mode Mode, want gradientsOf) (median, most float64) {
	t.Helper()
	m := g.net(t, s, g.Side, g.Side)
	z := m.Embed(g.images(want.Images, 6, g.Side, g.Side), mode)
	within(t, "embeddings", z.Data, want.Embeddings.numbers(t), 1e-4)
	dz := array.New(z.Shape...)
	if loss := tripletLoss(z, dz); math.Abs(loss-want.Loss) > 1e-4 {
		t.Errorf("loss %v, want %v", loss, want.Loss)
	}
	dx := m.Backward(dz, Weights|Input)
	off := g.deviations(t, "images", dx.Data, want.Grads["images"])
	params, tested := m.Params(), 1
	for i, p := range m.TorchTensors() {
		if params[i].Trained() {
			off = append(off, g.deviations(t, p.Name, tensors.Reorder(params[i].Grad.Data, p.View, p.Axes), want.Grads[p.Name])...)
			tested++
		} else if mode == Train {
			if d := slices.Max(g.deviations(t, p.Name, params[i].Value.Data, want.Running[p.Name])); !(d <= 1e-4) {
				t.Errorf("%s: off by %.3g", p.Name, d)
			}
		}
	}
	if tested != len(want.Grads) {
		t.Errorf("%d gradients, PyTorch has %d", tested, len(want.Grads))
	}
	slices.Sort(off)
	median, most = off[len(off)/2], off[len(off)-1]
	t.Logf("gradients: off by %.2g, at most %.2g of a tensor's largest number", median, most)
	return median, most
}

// tripletLoss is the mean over triplets (3i, 3i+1, 3i+2) of |a-p|^2 - |a-n|^2 and its
// gradient.
func tripletLoss(z, dz *array.Array) float64 {
	loss, k := 0.0, float64(z.Rows()/3)
	for i := 0; i < z.Rows(); i += 3 {
		a, p, n := z.Row(i), z.Row(i+1), z.Row(i+2)
		for c := range a {
			x, y, w := float64(a[c]), float64(p[c]), float64(n[c])
			loss += ((x-y)*(x-y) - (x-w)*(x-w)) / k
			dz.Row(i)[c], dz.Row(i + 1)[c], dz.Row(i + 2)[c] = float32(2*(w-y)/k), float32(2*(y-x)/k), float32(2*(x-w)/k)
		}
	}
	return loss
}
