package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/theory"
)

// The table pair-floor shows what bound partition has stored, and computes nothing.
func TestBoundPartition(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range uint64(2) {
		pairFake(t, []string{"a", "b"}[seed], 8, seed, 0.25)
	}
	floor := []string{"report", "--table", "pair-floor", "runs"}
	if code, out, stderr := cli(floor...); code != 0 || !strings.Contains(out, "`tercet bound partition RUN...` finds and stores it") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	line := []string{"bound", "partition", "--draws", "3", "runs"}
	code, out, stderr := cli(line...)
	if code != 0 || !strings.Contains(out, "3 of 3") {
		t.Fatalf("%d %s%s", code, out, stderr)
	}
	first, err := os.ReadFile(filepath.Join("runs", "a", theory.PartitionFile))
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ = cli(append(floor, "--format", "csv")...); code != 0 || strings.Contains(out, "finds and stores") || !strings.Contains(out, "multicut") {
		t.Errorf("%d %s", code, out)
	}
	// Fewer draws of the same seed are there already; other seeds need --force.
	if code, out, _ = cli("bound", "partition", "--draws", "2", "--json", "runs"); code != 0 || !strings.Contains(out, `"kept": true`) {
		t.Errorf("%d %s", code, out)
	}
	if code, _, stderr = cli("bound", "partition", "--seed", "1", "runs"); code != ExitUsage || !strings.Contains(stderr, "has 3 draws with seed 0") {
		t.Errorf("%d %s", code, stderr)
	}
	if code, _, stderr = cli("bound", "partition", "--seed", "1", "--draws", "1", "--force", "runs"); code != 0 {
		t.Errorf("%d %s", code, stderr)
	}
	if again, err := os.ReadFile(filepath.Join("runs", "b", theory.PartitionFile)); err != nil || string(again) == string(first) {
		t.Errorf("--force left the old one: %v", err)
	}
	writeFile(t, filepath.Join("runs", "b", theory.PartitionFile), "{")
	if code, _, stderr = cli(floor...); code != ExitData || !strings.Contains(stderr, theory.PartitionFile) {
		t.Errorf("a damaged file: %d %s", code, stderr)
	}
	for want, args := range map[string][]string{
		"--draws is 0": {"bound", "partition", "--draws", "0", "runs"}, "--draws is 1001": {"bound", "partition", "--draws", "1001", "runs"},
	} {
		if code, _, stderr := cli(args...); code != ExitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
	fakeRun(t, "plain", 0, 0.5)
	if code, _, stderr := cli("bound", "partition", "runs/plain"); code != ExitData || !strings.Contains(stderr, "dense noisy pairs") {
		t.Errorf("a run without pairs: %d %s", code, stderr)
	}
}
