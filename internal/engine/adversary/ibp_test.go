package adversary

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// ibpScene is a small network with a batch of six images and five triplets.
func ibpScene(t testing.TB, normalize bool) (*nn.Model, *Batch) {
	t.Helper()
	m, err := nn.Build(nn.Spec{Name: "mlp", Height: 2, Width: 3, Channels: 1, Units: 7, Embedding: 4, Normalize: normalize}, rng.New(1, "ibp"))
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(2, "ibp")
	b := &Batch{Images: array.New(6, 2, 3, 1), Labels: []int32{0, 0, 1, 1, 2, 2}, IDs: []uint64{0, 1, 2, 3, 4, 5}}
	for i := range b.Images.Data {
		b.Images.Data[i] = min(1, max(0, 1.2*r.Float32()-0.1))
	}
	b.Tuples = &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}, {A: 2, P: 3, N: 0}, {A: 2, P: 3, N: 5}, {A: 5, P: 4, N: 2}, {A: 1, P: 0, N: 4}}}
	return m, b
}

// plainWorst is the mean of max(0, margin + d_p^2 - d_n^2) at the worst images, by float64
// loops over the weights of ibpScene. The embeddings z of positives and negatives are given.
func plainWorst(m *nn.Model, b *Batch, z *array.Array, eps, margin float64, normalize bool) float64 {
	params := map[string][]float32{}
	for _, p := range m.Params() {
		params[p.Name] = p.Value.Data
	}
	sum := 0.0
	for _, t := range b.Tuples.Triplets {
		var lo, hi []float64
		for _, v := range b.Images.Row(int(t.A)) {
			lo, hi = append(lo, max(0, float64(v)-eps)), append(hi, min(1, float64(v)+eps))
		}
		for _, name := range []string{"fc1", "fc2"} {
			w, bias := params[name+".weight"], params[name+".bias"]
			low, high := make([]float64, 7), make([]float64, 7)
			for k := range low {
				low[k], high[k] = float64(bias[k]), float64(bias[k])
				for i := range lo {
					v := float64(w[i*7+k])
					low[k] += min(v*lo[i], v*hi[i])
					high[k] += max(v*lo[i], v*hi[i])
				}
				low[k], high[k] = max(0, low[k]), max(0, high[k])
			}
			lo, hi = low, high
		}
		w, bias := params["fc3.weight"], params["fc3.bias"]
		p, n := z.Row(int(t.P)), z.Row(int(t.N))
		least, square := 0.0, 0.0
		for d := range p {
			v, u := float64(p[d])-float64(n[d]), float64(bias[d])
			least += v * u
			if !normalize {
				least -= (float64(p[d])*float64(p[d]) - float64(n[d])*float64(n[d])) / 2
			}
			for k := range lo {
				u += (lo[k] + hi[k]) / 2 * float64(w[k*4+d])
			}
			square += u * u
		}
		for k := range lo {
			a := 0.0
			for d := range p {
				a += (float64(p[d]) - float64(n[d])) * float64(w[k*4+d])
			}
			least += min(a*lo[k], a*hi[k])
		}
		if normalize {
			least /= math.Sqrt(square)
		}
		sum += max(0, margin-2*least)
	}
	return sum / float64(len(b.Tuples.Triplets))
}

// penalty takes a step at which eps and kappa have risen to the end, without an objective.
func penalty(t testing.TB, m *nn.Model, b *Batch, k IBPKeys) (value float64, dz *array.Array) {
	t.Helper()
	d, err := k.New(Setting{})
	if err != nil {
		t.Fatal(err)
	}
	out, cost, err := d.Craft(m, b, 1, 0)
	if err != nil || cost.Forward != 12 || cost.Backward != 12 {
		t.Fatal(cost, err)
	}
	z := m.Embed(out.Images, nn.Train)
	dz = z.Clone()
	for i := range dz.Data {
		dz.Data[i] = 1
	}
	d.(Observer).Observe(3)
	if value, err = d.Penalty(out, z, dz); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Params() {
		p.Grad.Zero()
	}
	d.(Weighing).AddGradients()
	return value, dz
}

// The value is that of plain float64 loops, and the gradients are its finite differences.
func TestIBP(t *testing.T) {
	t.Parallel()
	for _, normalize := range []bool{true, false} {
		for _, eps := range []float64{0.02, 0.3} {
			m, b := ibpScene(t, normalize)
			k := IBPKeys{Eps: eps, Kappa: 0.25, Margin: 0.9}
			value, dz := penalty(t, m, b, k)
			z := m.Embed(b.Images, nn.Eval).Clone()
			plain := func() float64 { return plainWorst(m, b, z, eps, k.Margin, normalize) }
			if want := 0.25 * (plain() - 3); math.Abs(value-want) > 1e-6 {
				t.Errorf("normalize %v, eps %v: %v, want %v", normalize, eps, value, want)
			}
			if dz.Data[0] != 0.75 {
				t.Errorf("the gradient of the clean loss is multiplied by %v, want 0.75", dz.Data[0])
			}
			for _, p := range m.Params() {
				for i, was := range p.Value.Data {
					p.Value.Data[i] = was + 0x1p-14
					wide, up := float64(p.Value.Data[i]), plain()
					p.Value.Data[i] = was - 0x1p-14
					wide -= float64(p.Value.Data[i])
					want := 0.25 * (up - plain()) / wide
					p.Value.Data[i] = was
					if got := float64(p.Grad.Data[i]); math.Abs(got-want) > 2e-4*(1+math.Abs(want)) {
						t.Errorf("normalize %v, eps %v: gradient of %s[%d] is %v, want %v", normalize, eps, p.Name, i, got, want)
					}
				}
			}
		}
	}
}

// eps and kappa are 0 at first and rise linearly; where they are 0 nothing changes.
func TestIBPRises(t *testing.T) {
	t.Parallel()
	k := IBPKeys{Eps: 0.1, Kappa: 0.5, Margin: 1, WarmUp: 10, Ramp: 20}
	for step, want := range map[uint64]float64{0: 0, 10: 0, 11: 0.05, 20: 0.5, 30: 1, 1000: 1} {
		if got := k.at(step); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	m, b := ibpScene(t, true)
	d, _ := k.New(Setting{})
	if _, cost, err := d.Craft(m, b, 1, 10); err != nil || cost.Forward != 0 {
		t.Errorf("before they rise: %v, %v", cost, err)
	}
	z := m.Embed(b.Images, nn.Train)
	dz := z.Clone()
	if v, err := d.Penalty(b, z, dz); v != 0 || err != nil || dz.Data[1] != z.Data[1] {
		t.Errorf("before they rise: %v, %v", v, err)
	}
	d.(Weighing).AddGradients()
	for _, p := range m.Params() {
		if p.Grad.Data[0] != 0 {
			t.Errorf("before they rise %s has a gradient", p.Name)
		}
	}
}

// Threads change no bit of the gradients.
func TestIBPHasTheSameBits(t *testing.T) {
	defer par.SetThreads(0)
	var grads [2][]float32
	for i := range grads {
		par.SetThreads(i + 1)
		m, b := ibpScene(t, true)
		penalty(t, m, b, IBPKeys{Eps: 0.1, Kappa: 1, Margin: 1})
		for _, p := range m.Params() {
			grads[i] = append(grads[i], p.Grad.Data...)
		}
	}
	for i, v := range grads[0] {
		if math.Float32bits(v) != math.Float32bits(grads[1][i]) {
			t.Fatalf("number %d: %v on one thread, %v on two", i, v, grads[1][i])
		}
	}
}

// Networks and experiments that it cannot train are refused.
func TestIBPRefuses(t *testing.T) {
	t.Parallel()
	m, err := nn.Build(nn.Spec{Name: "cnn", Height: 8, Width: 8, Channels: 1, Units: 2, Embedding: 4}, rng.New(1, "ibp"))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&IBP{}).Bind(m); !errors.Is(err, bound.ErrNone) || !strings.Contains(err.Error(), "layer bn1 (batchnorm) of model cnn") {
		t.Errorf("batch norm: %v", err)
	}
	_, b := ibpScene(t, true)
	if _, _, err := (&IBP{}).Craft(newNet(1, 6, 3, 2, false, 1), b, 0, 0); err == nil {
		t.Error("a network of several processes is taken")
	}
	if list := (IBPKeys{}).Fit(Fitting{Loss: loss.CosineOptions{}, Shards: 2, HeadOnly: true, OnDevice: true}); len(list) != 4 {
		t.Errorf("%v", list)
	}
}
