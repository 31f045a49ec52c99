package tune

import (
	"strings"
	"testing"

	"tercet/internal/testutil"
)

// The journal of a search by halving has the lines that Optuna 3.1 and 5 read as testdata's
// script check_optuna.py says: a completed, a pruned and a failed trial.
func TestJournal(t *testing.T) {
	t.Parallel()
	cfg := load(t, "  trials: 3\n  method: halving\n  eta: 3\n  space:\n    optimizer.lr: [log-uniform, 1e-4, 1e-1]\n    loss.margin: [uniform, 0.1, 0.5]\n    batch.pairs: [integer, 4, 6]\n    miner.name: [choice, semihard, softhard]\n    model.normalize: [choice, true, false]\n")
	ranges, err := cfg.Ranges()
	if err != nil {
		t.Fatal(err)
	}
	sets := func(lr, margin, pairs, miner, normalize string) []string {
		return []string{"optimizer.lr=" + lr, "loss.margin=" + margin, "batch.pairs=" + pairs, "miner.name=" + miner, "model.normalize=" + normalize}
	}
	rungs := Rungs(cfg)
	a, b, c := Trial{0, sets("1e-3", "0.25", "5", "softhard", "false")}, Trial{1, sets("0.01", "0.5", "4", "semihard", "true")}, Trial{2, sets("0.1", "0.1", "6", "softhard", "true")}
	got, err := Journal(cfg.Name, ranges, len(rungs), []Outcome{
		{a, 0, rungs[0].Length, 0.25, false, "x-a"}, {b, 0, rungs[0].Length, 0.5, false, "x-b"}, {c, 0, rungs[0].Length, 0, true, "x-c"},
		{b, 1, rungs[1].Length, 0.75, false, "x-b1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, "testdata/study.journal", got)
	if !OnlyOurs(got) || OnlyOurs(nil) || OnlyOurs(append(got, []byte(`{"op_code":4,"worker_id":"8f2c-1"}`+"\n")...)) {
		t.Error("lines of another worker are not told from those of tune")
	}
	if n := strings.Count(string(got), "\n"); n != 4 {
		t.Errorf("%d lines, of a study and three trials", n)
	}
}
