package train

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/engine/nn"
)

func TestBadCheckpoints(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, func(tr *Trainer) { tr.Steps = 3 })
	whole := finalBytes(t, r)
	for n := 0; n < len(whole); n += 97 {
		p := filepath.Join(dir, "cut.safetensors")
		os.WriteFile(p, whole[:n], 0o644)
		if _, err := ReadCheckpoint(p); !errors.Is(err, ErrCheckpoint) {
			t.Fatalf("cut at %d: error %v", n, err)
		}
	}
	if _, err := ReadCheckpoint(filepath.Join(dir, "none")); !errors.Is(err, ErrCheckpoint) || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("missing file: error %v", err)
	}
	c, err := ReadCheckpoint(r.path)
	if err != nil {
		t.Fatal(err)
	}
	other := newRig(t, t.TempDir(), nil)
	other.Model = mustBuild(t, nn.Spec{Name: "mlp", Height: 8, Width: 8, Channels: 1, Units: 4})
	if err := c.Resume(other.Trainer); !errors.Is(err, ErrCheckpoint) {
		t.Fatalf("another model: error %v", err)
	}
}

// The network that a checkpoint rebuilds embeds exactly as the trained one did.
func TestLoadModel(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 5 })
	finalBytes(t, r)
	c, err := ReadCheckpoint(r.path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.loader.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := r.model.Embed(b.Images, nn.Eval).Clone()
	got := m.Embed(b.Images, nn.Eval)
	for i := range want.Data {
		if want.Data[i] != got.Data[i] {
			t.Fatalf("embedding %d: %v, want %v", i, got.Data[i], want.Data[i])
		}
	}
}
