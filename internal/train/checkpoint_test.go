package train

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
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

// A network far larger than the file that describes it is refused before it is built.
func TestNetworkLargerThanItsFile(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 1 })
	f, err := safetensors.Parse(finalBytes(t, r))
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{
		`{"name":"mlp","height":1,"width":1,"channels":50000,"embedding":8,"normalize":true,"units":1000}`,
		`{"name":"cnn","height":8,"width":8,"channels":50000,"embedding":8,"normalize":true}`,
		`{"name":"mahalanobis","height":100,"width":100,"channels":5,"embedding":1000,"normalize":false}`,
	} {
		f.Meta["model"] = spec
		delete(f.Meta, "digest")
		if err := WriteFile(r.path, "", f); err != nil {
			t.Fatal(err)
		}
		c, err := ReadCheckpoint(r.path)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = c.LoadModel()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "numbers that are left") {
			t.Errorf("%s: error %v", spec, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%s: %d MiB were taken", spec, took>>20)
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
		delete(f.Meta, "digest")
		if err := WriteFile(r.path, "", f); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCheckpoint(r.path); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "threshold") {
			t.Errorf("threshold %q: error %v", bad, err)
		}
	}
}

// A checkpoint that holds what no run can leave is refused, with a digest that fits and
// without one; so is one that was changed, or has lost its digest.
func TestImpossibleCheckpoints(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 10 })
	whole := finalBytes(t, r)
	state := func(old, text string) func(*safetensors.File) {
		return func(f *safetensors.File) { f.Meta["state"] = strings.Replace(f.Meta["state"], old, text, 1) }
	}
	number := func(name string, v float64) func(*safetensors.File) {
		return func(f *safetensors.File) { f.Find(name).Data[1] = float32(v) }
	}
	first := r.model.Params()[0].Name
	for _, tc := range []struct {
		change func(*safetensors.File)
		want   string
	}{
		{state(`"step":10`, `"step":-1`), "step is -1"},
		{state(`"step":10`, `"step":2000000000`), "behind the run's end, step 10"},
		{state(`"step":10`, `"step":"ten"`), "step is a string"},
		{state(`"stale":0`, `"stale":-1`), "stale is -1"},
		{state(`"backward":`, `"backward":-`), "cost.backward is -160"},
		{state(`"epoch_seen":0`, `"epoch_seen":1`), "epoch_seen is 1 at step 10"},
		{state(`"epoch_seen":0`, `"epoch_seen":11`), "more steps are counted than the 10 done"},
		{state(`"step":10`, `"steps":10`), `unknown key "steps"`},
		{func(f *safetensors.File) { f.Meta["optim.steps"] = "0" }, "optim.steps is 0 and state: step 10"},
		{func(f *safetensors.File) { f.Meta["optim.steps"] = "" }, `optim.steps is ""; want a number`},
		{func(f *safetensors.File) { f.Meta["stream.mine"] = "AA" }, "stream.mine is not the state of a random stream"},
		{number("model/"+first, math.NaN()), "model/" + first + " is NaN at index 1"},
		{number("optim/exp_avg_sq/"+first, math.Inf(1)), "exp_avg_sq/" + first + " is +Inf at index 1"},
	} {
		for _, sealed := range []bool{true, false} {
			f, err := safetensors.Parse(whole)
			if err != nil {
				t.Fatal(err)
			}
			delete(f.Meta, "digest")
			tc.change(f)
			if sealed {
				err = WriteFile(r.path, "", f)
			} else {
				var b bytes.Buffer
				f.Meta["format"] = record.UnsealedCheckpointFormat
				safetensors.Write(&b, f)
				err = os.WriteFile(r.path, b.Bytes(), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			c, err := ReadCheckpoint(r.path)
			if err == nil {
				os.Remove(r.path) // or the rig would resume by itself
				err = c.Resume(newRig(t, t.TempDir(), func(tr *Trainer) { tr.Steps = 10 }).Trainer)
			}
			if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("sealed %v: error %v, want %q", sealed, err, tc.want)
			}
		}
	}
	for name, bad := range map[string][]byte{
		"a weight":      append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1),
		"no digest":     bytes.Replace(whole, []byte(`"digest"`), []byte(`"digesT"`), 1),
		"another state": bytes.Replace(whole, []byte(`epoch_loss\":0`), []byte(`epoch_loss\":1`), 1),
	} {
		os.WriteFile(r.path, bad, 0o644)
		if _, err := ReadCheckpoint(r.path); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "damaged or changed after it was written") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The checkpoint before the last one is kept, whole, and the run continues from it.
func TestThePreviousCheckpoint(t *testing.T) {
	dir := t.TempDir()
	previous := filepath.Join(dir, "previous.safetensors")
	var bytesAt []string
	r := newRig(t, dir, func(tr *Trainer) { tr.CheckpointEvery = 3; tr.Steps = 10 })
	r.Save = func(best bool) error {
		if best {
			return nil
		}
		if err := r.WriteCheckpoint(r.path, previous, r.model.Spec(), "hash"); err != nil {
			return err
		}
		b, err := os.ReadFile(r.path)
		bytesAt = append(bytesAt, string(b))
		return err
	}
	finalBytes(t, r)
	if b, err := os.ReadFile(previous); err != nil || len(bytesAt) != 4 || string(b) != bytesAt[2] {
		t.Fatalf("%d checkpoints; the previous one differs (%v)", len(bytesAt), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}
