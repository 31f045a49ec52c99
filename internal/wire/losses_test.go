package wire

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/component"
	"tercet/internal/data/batch"
	"tercet/internal/engine/loss"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

// fitted trains the tiny config with a loss for so many steps of 6, from the checkpoint if
// there is one, and returns the bytes of the last checkpoint. That of step 3 is kept.
func fitted(t *testing.T, name, path string, steps int, more ...string) (*Assembled, []byte) {
	t.Helper()
	cfg := tinytest.Config(t, append([]string{"loss=" + name, "miner=semihard", "train.epochs=0", "train.steps=6", "batch=m-per-class", "batch.classes=3", "batch.per_class=2", "train.checkpoint_every=3 steps"}, more...)...)
	sets, err := OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := Assemble(cfg, sets)
	if err != nil {
		t.Fatal(err)
	}
	a.Trainer.Log = func(*record.Event) error { return nil }
	a.Trainer.Save = func(best bool) error {
		if best {
			return nil
		}
		if a.Trainer.State.Step == 3 {
			if err := a.WriteCheckpoint(path+"-3", "", a.Model.Spec(), "hash"); err != nil {
				return err
			}
		}
		return a.WriteCheckpoint(path, "", a.Model.Spec(), "hash")
	}
	if _, err := os.Stat(path); err == nil {
		c, err := train.ReadCheckpoint(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Resume(a.Trainer); err != nil {
			t.Fatal(err)
		}
	}
	at := a.Trainer.State.Step
	transform, err := Augment(cfg, sets.Seen())
	if err != nil {
		t.Fatal(err)
	}
	loader := batch.NewLoader(sets.Seen(), a.Sampler, transform, cfg.Seed, at/a.StepsPerEpoch, at%a.StepsPerEpoch, 0)
	defer loader.Close()
	a.Trainer.Batches = loader
	if a.Trainer.Options.Steps = steps; steps > 0 {
		if err := a.Trainer.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := os.ReadFile(path)
	return a, b
}

// Every loss with parameters trains all of them, keeps them in its checkpoints under names
// of their own, with the optimizer's state, and resumes to the same bytes. They have their
// own learning rate.
func TestParametersOfLosses(t *testing.T) {
	t.Parallel()
	tested := 0
	for _, known := range loss.Family.All() {
		learned, ok := known.Defaults.(loss.Learned)
		if !ok {
			continue
		}
		tested++
		t.Run(known.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			begin, _ := fitted(t, known.Name, filepath.Join(dir, "begin"), 0)
			whole, want := fitted(t, known.Name, filepath.Join(dir, "whole"), 6)
			if _, got := fitted(t, known.Name, filepath.Join(dir, "whole-3"), 6); !slices.Equal(got, want) {
				t.Error("a resumed run has other bytes")
			}
			was, is := begin.Objective.(loss.Parametric).Params(), whole.Objective.(loss.Parametric).Params()
			var state []string
			for _, s := range whole.Optimizer.State() {
				state = append(state, s.Name)
			}
			if len(is) == 0 {
				t.Error("no parameters")
			}
			for i, p := range is {
				if !strings.HasPrefix(p.Name, "loss/") || !strings.Contains(string(want), `"`+p.Name+`"`) {
					t.Errorf("no parameter %s in the checkpoint", p.Name)
				}
				if slices.Equal(p.Value.Data, was[i].Value.Data) {
					t.Errorf("%s has not moved", p.Name)
				}
				if !slices.Contains(state, "exp_avg/"+p.Name) {
					t.Errorf("the optimizer has no state of %s: %v", p.Name, state)
				}
			}
			if len(whole.Classes) != 12 || !strings.Contains(string(want), "loss.classes") {
				t.Errorf("classes %v", whole.Classes)
			}
			if factor, decay := learned.Rate(); !(factor > 0) || decay != (component.Auto{}) && decay.N < 0 {
				t.Errorf("rate %v, decay %v", factor, decay)
			}
		})
	}
	if tested == 0 {
		t.Error("no loss has parameters")
	}
}

// What training remembers besides weights is in the checkpoint: a run that resumes in the
// middle ends with the bytes of one that was not stopped.
func TestMemoriesResume(t *testing.T) {
	t.Parallel()
	views := []string{"batch.views=2", "data.augment.crop_padding=2", "model.normalize=false", "train.collapse.enabled=false"}
	for _, c := range []struct {
		name, loss string
		more       []string
		holds      string
	}{
		{"pairs with a memory", "{name: contrastive, memory: {size: 20, warmup: 1 steps}}", nil, "memory/embeddings"},
		{"triplets with a memory", "{name: triplet, memory: {size: 20}}", nil, "memory/embeddings"},
		{"parameters and a memory", "{name: margin, memory: {size: 20}}", nil, "memory/embeddings"},
		{"an average", "triplet", []string{"train.ema=0.9"}, "ema/"},
		{"one cycle", "triplet", []string{"optimizer.schedule=one-cycle"}, "model/"},
		{"views", "vicreg", views, "model/"},
		{"views without labels", "{name: nt-xent, positives: views}", views, "model/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, want := fitted(t, c.loss, filepath.Join(dir, "whole"), 6, c.more...)
			if _, got := fitted(t, c.loss, filepath.Join(dir, "whole-3"), 6, c.more...); !slices.Equal(got, want) {
				t.Error("a resumed run has other bytes")
			}
			if !strings.Contains(string(want), `"`+c.holds) {
				t.Errorf("no tensor %s in the checkpoint", c.holds)
			}
		})
	}
}

// The network of a checkpoint with an average is the average, by the formula.
func TestAverage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var weights [3][]float32
	for steps := range weights {
		path := filepath.Join(dir, "plain"+string(rune('0'+steps)))
		a, _ := fitted(t, "triplet", path, steps)
		weights[steps] = a.Model.Params()[0].Value.Data
	}
	path := filepath.Join(dir, "averaged")
	a, _ := fitted(t, "triplet", path, 2, "train.ema=0.75")
	c, err := train.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Model.Params()[0].Value.Data, weights[2]) {
		t.Error("an average changes the weights that are trained")
	}
	for i, got := range m.Params()[0].Value.Data {
		average := float64(weights[0][i])
		for _, w := range weights[1:] {
			average = 0.75*average + 0.25*float64(w[i])
		}
		if math.Abs(float64(got)-average) > 1e-6*(1+math.Abs(average)) {
			t.Fatalf("weight %d: %v, want %v", i, got, average)
		}
	}
}

// A learning rate of the parameters is a multiple of the network's: Adam's first step is
// as long as the rate. Parameters of other classes are refused.
func TestRateOfALoss(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last")
	begin, _ := fitted(t, "{name: proxy-anchor, lr_factor: 50}", path+"-none", 0)
	a, _ := fitted(t, "{name: proxy-anchor, lr_factor: 50}", path, 1)
	was, is := begin.Objective.(loss.Parametric).Params()[0], a.Objective.(loss.Parametric).Params()[0]
	largest := 0.0
	for i, v := range is.Value.Data {
		largest = max(largest, float64(v-was.Value.Data[i]))
	}
	if lr := a.Schedule(0); !(largest > 49*lr && largest < 51*lr) {
		t.Errorf("proxies moved by %v at a rate of %v", largest, lr)
	}
	c, err := train.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	a.Trainer.Classes = []string{"other"}
	if err := c.Resume(a.Trainer); err == nil || !strings.Contains(err.Error(), "not the 1 of the training images") {
		t.Error(err)
	}
}

// loss.weight_decay acts on the boundaries of the margin loss.
func TestDecayOfBoundaries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	boundaries := func(name string) []float32 {
		a, _ := fitted(t, name, filepath.Join(dir, name[:6]), 3)
		return a.Objective.(loss.Parametric).Params()[0].Value.Data
	}
	plain := boundaries("margin")
	decayed := boundaries("{name: margin, weight_decay: 50}")
	for i, v := range decayed {
		if !(v < plain[i]) {
			t.Errorf("boundary %d is %v with a decay, %v without", i, v, plain[i])
		}
	}
}
