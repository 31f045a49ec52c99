package train

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/fsx"
	"tercet/internal/safetensors"
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

// A loss that fixes a threshold leaves it in the checkpoint, the same bytes after a
// resume; checkpoints of other losses have none.
func TestThresholdOfACheckpoint(t *testing.T) {
	threshold := func(tr *Trainer) {
		obj, err := loss.NewThreshold(loss.ThresholdOptions{Alpha: 0.9, Beta: 0.2, Reduce: loss.Mean, Pairing: loss.ByTriplets})
		if err != nil {
			t.Fatal(err)
		}
		tr.Objective = obj
	}
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 6; threshold(tr) })
	want := finalBytes(t, r)
	c, err := ReadCheckpoint(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Threshold == nil || *c.Threshold != math.Sqrt(0.9/2+0.2/2) {
		t.Fatalf("threshold %v", c.Threshold)
	}
	again := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 6; threshold(tr) })
	if err := c.Resume(again.Trainer); err != nil {
		t.Fatal(err)
	}
	if err := again.Save(false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(again.path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a resumed checkpoint has other bytes (%v)", err)
	}
	plain := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 2 })
	finalBytes(t, plain)
	if c, err = ReadCheckpoint(plain.path); err != nil || c.Threshold != nil {
		t.Errorf("the triplet loss fixes no threshold: %+v (%v)", c.Threshold, err)
	}
	for _, bad := range []string{"", "far", "-1", "0", "NaN", "Inf"} {
		f, err := safetensors.Parse(want)
		if err != nil {
			t.Fatal(err)
		}
		f.Meta["threshold"] = bad
		if err := fsx.Write(r.path, 0o644, func(w io.Writer) error { return safetensors.Write(w, f) }); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCheckpoint(r.path); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "threshold") {
			t.Errorf("threshold %q: error %v", bad, err)
		}
	}
}
