package config

import "testing"

// A layer that names another component starts from that component's defaults,
// also for keys that both have: a cnn's width is no mlp's.
func TestAnotherComponentDropsOwnKeys(t *testing.T) {
	base := "model: {name: cnn, width: 4, embedding: 32}\nbatch: {sampler: class-pairs, pairs: 7}\n"
	c, err := LoadBytes([]byte(base), "x.yaml", []string{"model=mlp", "batch.sampler=class-pairs-distinct"})
	if err != nil {
		t.Fatal(err)
	}
	if w := c.Model.Options.(MLPModel).Width; w != 200 {
		t.Errorf("mlp width %d, want its default 200", w)
	}
	if c.Model.Embedding != 32 {
		t.Errorf("embedding %d, want 32: the key is common to all models", c.Model.Embedding)
	}
	if p := c.Batch.Options.(ClassPairs).Pairs; p != 7 {
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
