package train

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"tercet/internal/engine/optim"
)

// A schedule that follows validation images drops the rate where their score stays, keeps
// its state in the checkpoint, and takes scores of no other images.
func TestPlateauInTraining(t *testing.T) {
	t.Parallel()
	evaluated := func(split string) func(*Trainer) {
		return func(t *Trainer) {
			t.Plateau = &optim.Plateau{Factor: 0.5, Patience: 0}
			t.EvalEvery, t.Stop.Metric, t.Evaluated = 1, "recall@1", split
			t.Evaluate = func(context.Context) (map[string]float64, error) { return map[string]float64{"recall@1": 0.5}, nil }
		}
	}
	whole := newRig(t, t.TempDir(), evaluated("validation"))
	want := finalBytes(t, whole)
	epochs := (whole.Steps + whole.StepsPerEpoch - 1) / whole.StepsPerEpoch
	if s := whole.State.Plateau; s == nil || s.Drops != epochs-1 || epochs < 3 {
		t.Fatalf("%+v after %d epochs", s, epochs)
	}
	dir := t.TempDir()
	half := newRig(t, dir, evaluated("validation"))
	half.Steps = half.StepsPerEpoch
	finalBytes(t, half)
	if got := finalBytes(t, newRig(t, dir, evaluated("validation"))); !bytes.Equal(got, want) {
		t.Error("a resumed run has other bytes")
	}
	if err := newRig(t, t.TempDir(), evaluated("test")).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "data.split.validation") {
		t.Error(err)
	}
}
