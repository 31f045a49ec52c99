package bound_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/theory"
)

// The table pair-floor shows what bound partition has stored, and computes nothing.
func TestPartition(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(2) {
		clitest.PairFake(t, []string{"a", "b"}[seed], 8, seed, 0.25)
	}
	floor := []string{"report", "--table", "pair-floor", "runs"}
	if code, out, stderr := clitest.Run(floor...); code != 0 || !strings.Contains(out, "`tercet bound partition RUN...` finds and stores it") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	line := []string{"bound", "partition", "--draws", "3", "runs"}
	code, out, stderr := clitest.Run(line...)
	if code != 0 || !strings.Contains(out, "3 of 3") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	first, err := os.ReadFile(filepath.Join("runs", "a", theory.PartitionFile))
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ = clitest.Run(append(floor, "--format", "csv")...); code != 0 || strings.Contains(out, "finds and stores") || !strings.Contains(out, "multicut") {
		t.Errorf("%d %s", code, out)
	}
	// Fewer draws of the same seed are there already; other seeds need --force.
	if code, out, _ = clitest.Run("bound", "partition", "--draws", "2", "--json", "runs"); code != 0 || !strings.Contains(out, `"kept": true`) {
		t.Errorf("%d %s", code, out)
	}
	if code, _, stderr = clitest.Run("bound", "partition", "--seed", "1", "runs"); code != base.ExitUsage || !strings.Contains(stderr, "has 3 draws with seed 0") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr = clitest.Run("bound", "partition", "--seed", "1", "--draws", "1", "--force", "runs"); code != 0 {
		t.Errorf("%d %s", code, stderr)
	}
	if again, err := os.ReadFile(filepath.Join("runs", "b", theory.PartitionFile)); err != nil || string(again) == string(first) {
		t.Errorf("--force left the old one: %v", err)
	}
	clitest.WriteFile(t, filepath.Join("runs", "b", theory.PartitionFile), "{")
	if code, _, stderr = clitest.Run(floor...); code != base.ExitData || !strings.Contains(stderr, theory.PartitionFile) {
		t.Errorf("a damaged file: %d %s", code, stderr)
	}
	for want, args := range map[string][]string{
		"--draws is 0": {"bound", "partition", "--draws", "0", "runs"}, "--draws is 1001": {"bound", "partition", "--draws", "1001", "runs"},
	} {
		if code, _, stderr := clitest.Run(args...); code != base.ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	clitest.FakeRun(t, "plain", 0, 0.5)
	if code, _, stderr := clitest.Run("bound", "partition", "runs/plain"); code != base.ExitData || !strings.Contains(stderr, "dense noisy pairs") {
		t.Errorf("a run without pairs: %d %s", code, stderr)
	}
}
