package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
)

// accumulating makes each step of a rig one of n batches.
func accumulating(n int) func(*Trainer) {
	return func(tr *Trainer) {
		tr.Accumulate, tr.BatchesPerEpoch = n, tr.StepsPerEpoch
		tr.StepsPerEpoch = StepsPerEpoch(tr.BatchesPerEpoch, n)
	}
}

// A step of gradient descent moves weights by the mean of the gradients that the batches
// have one by one at the weights before, added in float64.
func TestAccumulatedGradientIsTheMeanOfTheBatches(t *testing.T) {
	plain := func(tr *Trainer) {
		tr.Mode = nn.Frozen // a batch's statistics would move those of the next
		var err error
		if tr.Optimizer, err = optim.New(optim.Config{Name: "sgd"}, tr.Model.Params()); err != nil {
			t.Fatal(err)
		}
		tr.Schedule = func(int) float64 { return 0.5 }
	}
	one := newRig(t, t.TempDir(), plain)
	one.params = one.trained()
	var want, before [][]float64
	for range 2 {
		if _, err := one.gradient(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		for i, p := range one.params {
			if len(want) == i {
				want, before = append(want, make([]float64, len(p.Value.Data))), append(before, nil)
				for _, v := range p.Value.Data {
					before[i] = append(before[i], float64(v))
				}
			}
			if p.Trained() {
				for k, g := range p.Grad.Data {
					want[i][k] += float64(g) / 2
				}
			}
		}
	}
	both := newRig(t, t.TempDir(), func(tr *Trainer) {
		plain(tr)
		accumulating(2)(tr)
	})
	both.params = both.trained()
	if _, err := both.step(context.Background()); err != nil {
		t.Fatal(err)
	}
	moved := 0
	for i, p := range both.params {
		largest := slices.Max(append([]float64{0}, want[i]...))
		for k, v := range p.Value.Data {
			got := (before[i][k] - float64(v)) / 0.5
			if got != 0 {
				moved++
			}
			// The weight is rounded, too.
			if math.Abs(got-want[i][k]) > 1e-6*largest+3e-7*math.Abs(before[i][k]) {
				t.Fatalf("%s %d: moved by %v, want %v", p.Name, k, got, want[i][k])
			}
		}
	}
	if moved < 100 {
		t.Fatalf("%d weights moved", moved)
	}
}

// Epochs keep their batches: the last step of each takes what is left.
func TestAccumulatedEpochs(t *testing.T) {
	r := newRig(t, t.TempDir(), func(tr *Trainer) {
		accumulating(2)(tr)
		tr.Steps = 8
	})
	if r.BatchesPerEpoch != 7 || r.StepsPerEpoch != 4 {
		t.Fatalf("%d batches and %d steps an epoch", r.BatchesPerEpoch, r.StepsPerEpoch)
	}
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := int64(2 * 7 * 16); r.State.Cost.Forward != want || r.State.Cost.Backward != want {
		t.Fatalf("cost %+v, want %d each", r.State.Cost, want)
	}
	for step, want := range [][3]int{{0, 0, 2}, {0, 2, 2}, {0, 4, 2}, {0, 6, 1}, {1, 0, 2}} {
		epoch, at := r.Position(step)
		if n := r.batches(step); epoch != want[0] || at != want[1] || n != want[2] {
			t.Errorf("step %d: epoch %d, batch %d, %d of them; want %v", step, epoch, at, n, want)
		}
	}
}
