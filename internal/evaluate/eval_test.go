package evaluate

import (
	"testing"

	"tercet/internal/run/runtest"
)

func TestRecallOverAllItemsIsWarnedOf(t *testing.T) {
	if got := whole([]int{1, 358, 359, 400}, 360); len(got) != 2 || got[1] != "recall@400 is 1 by definition: each query has only 359 other items" {
		t.Errorf("%q", got)
	}
}

// eval_every 0 evaluates once, at the end.
func TestEvaluationAtTheEndOnly(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "train.eval_every=0")
	if b := r.Manifest.Best; b == nil || b.Step != 18 {
		t.Errorf("best %+v", b)
	}
}
