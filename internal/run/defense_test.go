package run

import (
	"encoding/json"
	"math"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
)

func TestTheBudgetFollowsTheImages(t *testing.T) {
	d, ok := tinytest.Config(t, "defense=act").Defense.Options.(adversary.ACTKeys)
	if !ok {
		t.Fatal("defense act has other options")
	}
	for _, c := range []struct {
		side      int
		change    func(*adversary.CraftingKeys)
		eps, step float64
	}{
		{28, nil, 77. / 255, 3. / 255},
		{64, nil, 77. / 255, 3. / 255},
		{224, nil, 8. / 255, 1. / 255},
		{224, func(c *adversary.CraftingKeys) { c.Scale, c.Steps = "ball", 4 }, 8. / 255, 2.5 * 8 / 255 / 4},
		{28, func(c *adversary.CraftingKeys) { c.Eps, c.Alpha = ptr(0.1), ptr(0.02) }, 0.1, 0.02},
	} {
		o := d.PGD
		if c.change != nil {
			c.change(&o)
		}
		p := o.PGD(c.side)
		if p.Eps != c.eps || math.Abs(p.Step-c.step) > 1e-15 || p.Norm != adversary.Linf {
			t.Errorf("side %d: eps %v, step %v in the ball %s; want %v and %v", c.side, p.Eps, p.Step, p.Norm, c.eps, c.step)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func ptr(v float64) *float64 { return &v }

// A defence's run says how far the images were moved: as far as the steps reach,
// which is less than eps where they are few.
func TestARunLogsItsEffectiveRadius(t *testing.T) {
	r := trained(t, t.TempDir(), "defense=hm", "defense.pgd={eps: 0.3, alpha: 0.02, steps: 3}", "train.log_every=1")
	c := r.Manifest.Crafted
	if c == nil || c.Steps != r.Manifest.Steps || c.Wanted == nil || c.Achieved == nil {
		t.Fatalf("the manifest has %+v", c)
	}
	if c.MaxLinf > 0.06+1e-6 || c.MaxLinf < 0.02 || c.MeanLinf > c.MaxLinf {
		t.Errorf("mean radius %v, largest %v; 3 steps of 0.02 reach 0.06", c.MeanLinf, c.MaxLinf)
	}
	events, err := train.ReadEvents(r.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, n, largest := 0.0, 0.0, 0.0
	for _, e := range events {
		if e.Kind != "step" {
			continue
		}
		if e.Crafted == nil || e.Crafted.Wanted == nil {
			t.Fatalf("step %d says nothing of the defence", e.Step)
		}
		wanted, n = wanted+*e.Crafted.Wanted, n+1
		largest = max(largest, e.Crafted.MaxLinf)
	}
	if math.Abs(wanted/n-*c.Wanted) > 1e-12 || largest != c.MaxLinf {
		t.Errorf("the log's means are %v and %v, the manifest's %v and %v", wanted/n, largest, *c.Wanted, c.MaxLinf)
	}
	if plain := trained(t, t.TempDir()); plain.Manifest.Crafted != nil {
		t.Error("plain training reports perturbations")
	}
}

// Triplets of HM's source replace the miner's, wherever the source is named.
func TestTheSourceReplacesTheMiner(t *testing.T) {
	a := trained(t, t.TempDir(), "miner=softhard", "defense=hm", "defense.pgd.steps=1")
	b := trained(t, t.TempDir(), "miner=random", "defense={name: hm, source: softhard}", "defense.pgd.steps=1")
	c := trained(t, t.TempDir(), "miner=random", "defense=hm", "defense.pgd.steps=1")
	if weights(t, a) != weights(t, b) {
		t.Error("defense.source: softhard trains other weights than miner: softhard")
	}
	if weights(t, a) == weights(t, c) {
		t.Error("another miner trains the same weights")
	}
}

// weights returns the tensors of the last checkpoint as JSON.
func weights(t *testing.T, r *Run) string {
	t.Helper()
	c, err := train.ReadCheckpoint(r.Last())
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]float32
	for _, p := range m.Params() {
		all = append(all, p.Value.Data)
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
