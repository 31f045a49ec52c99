package generalize

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"tercet/internal/progress"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// While one measurement keeps its work in RUN/stability another of the run is refused, and
// what is there is left alone; when the first has ended it is not.
func TestMeasurementsOfOneRunAtOnce(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), few...)
	in, _ := used(t, r)
	o := stabilityOptions
	o.Images, o.Replace = []int{in}, []string{ReplaceFresh}
	// What another measurement has half done, which this one would empty.
	half := r.Path("stability", "retrained", unreplaced)
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	testutil.Write(t, half+"/begun", "by another")
	other, err := run.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	free, err := lockStability(other)
	if err != nil {
		t.Fatal(err)
	}
	influence := InfluenceOptions{ReplaceOptions: o, Checkpoint: "last", Steps: 1}
	influence.Images, influence.Repeats = nil, 1
	for name, o := range map[string]any{"stability": o, "on average": onAverageOptions(), "influence": influence} {
		_, err := measured(context.Background(), r, o, progress.Progress{Say: tinytest.Quiet, Note: func(string, ...any) {}})
		if !errors.Is(err, run.ErrBusy) || !strings.Contains(err.Error(), "wait until that has ended") {
			t.Errorf("%s: error %v, want ErrBusy", name, err)
		}
	}
	if testutil.Read(t, half+"/begun") != "by another" {
		t.Error("the work of another measurement is gone")
	}
	free()
	for range 2 { // the second finds the lock free
		measuredAs[*StabilityDoc](t, r, o)
	}
	measuredAs[*InfluenceDoc](t, r, influence)
}

// A retraining is evaluated at its end alone, unless evaluations may stop it.
func TestRetrainingsAreEvaluatedOnlyWhereThatMatters(t *testing.T) {
	for set, want := range map[string]int{
		"train.early_stop.metric=":                   0,
		"train.early_stop.patience=3":                0, // of no metric
		"train.early_stop.metric=retrieval.recall@1": 2,
	} {
		r := &run.Run{Config: tinytest.Config(t, "train.eval_every=2", set)}
		c := (&retraining{study: &study{run: r}}).config("again")
		if c.Train.EvalEvery != want || c.Name != "again" || r.Config.Train.EvalEvery != 2 {
			t.Errorf("%s: evaluated every %d epochs, want %d", set, c.Train.EvalEvery, want)
		}
	}
}
