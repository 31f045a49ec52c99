package run

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/run/tinytest"
	"tercet/internal/safetensors"
	"tercet/internal/wire"
)

// tensors returns what the run's last checkpoint has, by name.
func tensors(t *testing.T, r *Run) map[string][]float32 {
	t.Helper()
	f, err := safetensors.ReadFile(r.Last())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float32{}
	for _, x := range f.Tensors {
		out[x.Name] = x.Data
	}
	return out
}

// Which tensors move: in the steps of the head alone its own, later all; with
// frozen-affine no weight or bias of batch norm, and no running mean.
func TestPartsThatTrain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sets := []string{"train.epochs=0", "train.checkpoint_every=0 steps", "train.eval_every=0"}
	start := map[string][]float32{}
	cfg := tinytest.Config(t, append(sets, "train.steps=2")...)
	data, err := wire.OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := wire.Assemble(cfg, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Model.Params() {
		start["model/"+p.Name] = p.Value.Data
	}
	for name, c := range map[string]struct {
		sets []string
		move func(name string) bool
	}{
		"head":   {[]string{"train.steps=2", "train.head_only=2"}, func(n string) bool { return strings.HasPrefix(n, "model/fc.") || strings.Contains(n, "running") }},
		"then":   {[]string{"train.steps=3", "train.head_only=2", "optimizer.head.lr=0.1"}, func(string) bool { return true }},
		"affine": {[]string{"train.steps=2", "train.batchnorm=frozen-affine"}, func(n string) bool { return !strings.Contains(n, "/bn") }},
		"frozen": {[]string{"train.steps=2", "train.batchnorm=frozen"}, func(n string) bool { return !strings.Contains(n, "running") }},
	} {
		got := tensors(t, trained(t, root, append(append(sets, "name="+name), c.sets...)...))
		for n, was := range start {
			same := true
			for i, v := range got[n] {
				same = same && math.Float32bits(v) == math.Float32bits(was[i])
			}
			if same == c.move(n) {
				t.Errorf("%s: %s is the same: %v", name, n, same)
			}
		}
	}
}

// A run with groups that is interrupted in the steps of the head alone, or after them,
// ends with the bytes of one that is not.
func TestGroupsResume(t *testing.T) {
	t.Parallel()
	sets := []string{"train.head_only=3", "optimizer.head={lr: 0.01, weight_decay: 0}", "optimizer.weight_decay=0.01", "optimizer.clip_value=0.01", "optimizer.decay_all=true", "train.checkpoint_every=1 steps"}
	want := checkpoints(t, trained(t, t.TempDir(), sets...))
	for _, step := range []int{2, 5} {
		r := create(t, t.TempDir(), sets...)
		killed(t, r, step)
		r, _ = resumed(t, r.Dir, "")
		if checkpoints(t, r) != want {
			t.Errorf("killed at step %d: other bytes", step)
		}
	}
}
