package commands_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// TestCheckOfAWarmup: "ok" was all it said of a warm-up of 500 steps of a run of 180.
func TestCheckOfAWarmup(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tc := range []struct{ set, note string }{
		{"train: {epochs: 3}\noptimizer: {schedule: {warmup: 500 steps}}", "not checked: whether optimizer.schedule.warmup (500 steps) ends before the run (3 epochs) depends on the data"},
		{"train: {epochs: 0, steps: 180}\noptimizer: {schedule: {warmup: 500 steps}}", "optimizer.schedule.warmup (500 steps) is as long as the run (180 steps) or longer"},
		{"train: {epochs: 0, steps: 180}\noptimizer: {schedule: {warmup: 50 steps}}", ""},
		{"train: {epochs: 3}", ""},
	} {
		clitest.WriteFile(t, "w.yaml", tc.set)
		code, _, stderr := clitest.Run("config", "check", "w.yaml")
		if code != 0 || !strings.Contains(stderr, tc.note) || tc.note == "" && stderr != "" {
			t.Errorf("%s: exit code %d, %q", tc.set, code, stderr)
		}
	}
}

// TestCheckNamesAllRuns: of a sweep the first bad run was named.
func TestCheckNamesAllRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "s.yaml", "train: {early_stop: {patience: 3}}\nsweep: {train.early_stop.metric: [retrieval.recall@1, \"\"], seed: [0, 1]}\n")
	code, _, stderr := clitest.Run("config", "check", "s.yaml")
	for _, want := range []string{"there are no validation images to stop by", "without a metric nothing stops the run"} {
		if code != base.ExitUsage || strings.Count(stderr, want) != 1 {
			t.Errorf("exit code %d, %q is not there once in\n%s", code, want, stderr)
		}
	}
}
