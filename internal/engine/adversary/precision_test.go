package adversary

import (
	"errors"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// withBF16 makes bfloat16 available, in plain Go where the processor has no tiles.
func withBF16(t *testing.T) {
	t.Helper()
	if kernel.CheckBF16() == nil {
		return
	}
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(restore)
}

// bf16Scene is a network, and triplets of images.
func bf16Scene(t *testing.T) (*nn.Model, *Batch) {
	t.Helper()
	m, err := nn.Build(nn.Spec{Name: "c2f2", Height: 6, Width: 6, Channels: 1, Embedding: 16, Normalize: true}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	in := &Batch{Images: array.New(6, 6, 6, 1), Tuples: &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 2, N: 4}, {A: 1, P: 3, N: 5}}}}
	r := rng.New(2, "images")
	for i := range in.Images.Data {
		in.Images.Data[i] = float32(r.Float64())
	}
	for i := range 6 {
		in.Labels, in.IDs = append(in.Labels, int32(i/4)), append(in.IDs, uint64(i))
	}
	return m, in
}

// craftedBy is what keys with the precision make of the scene's batch.
func craftedBy(t *testing.T, k Keys, p Precision, m *nn.Model, in *Batch) []float32 {
	t.Helper()
	switch v := k.(type) {
	case ESTKeys:
		v.PGD.Precision, v.PGD.Steps = string(p), 2
		k = v
	case ACTKeys:
		v.PGD.Precision, v.PGD.Steps = string(p), 2
		k = v
	case MinMaxKeys:
		v.PGD.Precision, v.PGD.Steps = string(p), 2
		k = v
	case HMKeys:
		v.PGD.Precision, v.PGD.Steps = string(p), 2
		k = v
	}
	return slices.Clone(craft(t, made(t, k), m, in))
}

func craft(t *testing.T, d Defense, m *nn.Model, in *Batch) []float32 {
	t.Helper()
	out, _, err := d.Craft(m, in, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := d.(Observer); ok {
		o.Observe(0.1)
	}
	return out.Images.Data
}

// Images crafted with bfloat16 are the same bits for any number of threads. Most of their
// pixels, but not all, are those that float32 makes: the sign of few derivatives differs.
func TestPrecision(t *testing.T) {
	withBF16(t)
	defer par.SetThreads(0)
	every(t, func(t *testing.T, k Keys) {
		if c, ok := k.(Crafter); !ok || c.Crafting().Steps == 1 {
			t.Skip("crafts nothing with a precision")
		}
		if h, ok := k.(HMKeys); ok && h.Destination.Name != "constant" && h.Destination.Name != "lga" {
			t.Skip("as the other destinations")
		}
		m, in := bf16Scene(t)
		clean := craftedBy(t, k, Float32, m, in)
		par.SetThreads(1)
		want := craftedBy(t, k, BF16, m, in)
		par.SetThreads(3)
		if got := craftedBy(t, k, BF16, m, in); !slices.Equal(got, want) {
			t.Error("three threads make other images than one")
		}
		other := 0
		for i, v := range want {
			if v != clean[i] {
				other++
			}
		}
		if share := float64(other) / float64(len(want)); share > 0.35 {
			t.Errorf("%.3f of the pixels differ from those of float32", share)
		} else if _, hm := k.(HMKeys); share == 0 && !hm {
			t.Error("all pixels are those of float32")
		}
	})
}

// Weights that change between two batches are seen.
func TestPrecisionFollowsWeights(t *testing.T) {
	withBF16(t)
	m, in := bf16Scene(t)
	k := ESTKeys{"paper", CraftingDefaults()}
	k.PGD.Precision, k.PGD.Steps = string(BF16), 2
	d := made(t, k)
	before := slices.Clone(craft(t, d, m, in))
	for _, p := range m.Params() {
		r := rng.New(9, p.Name)
		for i := range p.Value.Data {
			p.Value.Data[i] = float32(r.NormFloat64() / 10)
		}
	}
	after := craft(t, d, m, in)
	if slices.Equal(before, after) {
		t.Error("other weights make the same images")
	}
	if !slices.Equal(after, craft(t, made(t, k), m, in)) {
		t.Error("the defense makes other images than a new one with the same weights")
	}
}

// What bfloat16 cannot do is an error: layers, and networks that are no plain model.
func TestPrecisionRefuses(t *testing.T) {
	withBF16(t)
	m, err := nn.Build(nn.Spec{Name: "resnet18", Height: 8, Width: 8, Channels: 1, Units: 4}, rng.New(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	k := ESTKeys{"paper", CraftingDefaults()}
	k.PGD.Precision = string(BF16)
	d := made(t, k).(*EST)
	var u *nn.UnsupportedBF16
	if err := d.Bind(m); !d.Binds() || !errors.As(err, &u) {
		t.Errorf("ResNet-18: %v", err)
	}
	_, in := bf16Scene(t)
	if _, _, err := d.Craft(struct{ nn.Embedder }{m}, in, 0, 0); err == nil {
		t.Error("a network that is no model is taken")
	}
	if list := k.Fit(Fitting{Shards: 2, OnDevice: true}); len(list) != 2 {
		t.Errorf("shards and a device: %v", list)
	}
	k.PGD.Precision = string(Float32)
	if list := k.Fit(Fitting{Shards: 2, OnDevice: true}); len(list) != 0 {
		t.Errorf("float32 with shards and a device: %v", list)
	}
	p := Training()
	p.Precision, p.Norm, p.Eps, p.Step, p.Iterations = "half", Linf, 0.1, 0.1, 1
	if err := p.Validate(); err == nil {
		t.Error("precision half is valid")
	}
}
