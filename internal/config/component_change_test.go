package config

import (
	"testing"

	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/nn"
)

// A layer that names another component starts from that component's defaults,
// also for keys that both have: a cnn's width is no mlp's.
func TestAnotherComponentDropsOwnKeys(t *testing.T) {
	base := "model: {name: cnn, width: 4, embedding: 32}\nbatch: {sampler: class-pairs, pairs: 7}\n"
	c, err := LoadBytes([]byte(base), "x.yaml", []string{"model=mlp", "batch.sampler=class-pairs-distinct"})
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Model.Options.(nn.MLPKeys).Width; w != 200 {
		t.Errorf("mlp width %d, want its default 200", w)
	}
	if c.Model.Embedding != 32 {
		t.Errorf("embedding %d, want 32: the key is common to all models", c.Model.Embedding)
	}
	if p := c.Batch.Options.(batch.ClassPairs).Pairs; p != 7 {
		t.Errorf("pairs %d, want 7: the two samplers have the same keys", p)
	}
}

func TestFitIsReadAndChecked(t *testing.T) {
	c, err := LoadBytes([]byte("data: {name: folder, root: x, size: 32, crop: 28, fit: short}\n"), "x.yaml", nil)
	if err != nil || c.Data.Fit != "short" {
		t.Fatalf("fit %q, error %v", c.Data.Fit, err)
	}
	if _, err := LoadBytes([]byte("data: {name: folder, root: x, fit: long}\n"), "x.yaml", nil); err == nil {
		t.Error("fit: long was accepted")
	}
}

// Overrides of one nested section that belong to a component named in the file stand
// beside each other, also those of a sweep.
func TestOverridesInOneSectionOfAComponent(t *testing.T) {
	file := []byte("defense: {name: hm, pgd: {eps: 77/255}}\nsweep: {defense.pgd.steps: [3, 5]}\n")
	c, err := LoadBytes(file, "x.yaml", []string{"defense.pgd.scale=ball", "defense.pgd.start=random", "defense.destination=constant", "defense.destination.value=-0.1"})
	if err != nil {
		t.Fatal(err)
	}
	variants, err := c.Sweep()
	if err != nil || len(variants) != 2 {
		t.Fatalf("%v %v", variants, err)
	}
	v, err := c.Variant(variants[1])
	if err != nil {
		t.Fatal(err)
	}
	h := v.Defense.Options.(adversary.HMKeys)
	if h.PGD.Steps != 5 || h.PGD.Scale != "ball" || h.PGD.Start != "random" || h.PGD.Eps == nil {
		t.Errorf("pgd: %+v", h.PGD)
	}
	if d, ok := h.Destination.Options.(hardness.Constant); !ok || h.Destination.Name != "constant" || d.Value != -0.1 {
		t.Errorf("destination: %+v", h.Destination)
	}
}
