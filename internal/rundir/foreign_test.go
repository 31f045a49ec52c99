package rundir_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/rundir/rundirtest"
)

// A result that was copied from another run is no result of this one; that of a run that
// was moved is.
func TestResultsOfOtherRunsAreLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	of := func(source string) map[string]string {
		return map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), `"checkpoint": "last"`, source+`, "checkpoint": "last"`)}
	}
	rundirtest.Fake(t, "runs/a", 0, "finished", nil)
	for _, tc := range []struct {
		name string
		docs map[string]string
		left string // "" where it is the run's own
	}{
		{"hash", of(`"run": "runs/b", "config_hash": "ba9876543210"`), "runs/b/eval.json is of another run (runs/b, config ba9876543210; this run's is 0123456789ab): left out"},
		{"own", of(`"run": "elsewhere/a", "config_hash": "0123456789ab"`), ""},
		{"sibling", of(`"run": "runs/a"`), "runs/b/eval.json is of another run (runs/a): left out"},
		{"moved", of(`"run": "old/place"`), ""},
		{"unsaid checkpoint", map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), `"checkpoint": "last", `, "")}, "runs/b/eval.json does not say of which images and weights it is (no source.checkpoint): left out"},
		{"images", map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), "sha256:bb", "sha256:cc")}, "runs/b/eval.json is of other test images than the run's (fingerprint cc, not bb): left out"},
		{"part", map[string]string{"eval.json": rundirtest.Replaced(rundirtest.EvalFile(0.5, 0), "sha256:bb", "sha256:cc", `"items": 200`, `"items": 20`)}, ""},
	} {
		if err := os.RemoveAll("runs/b"); err != nil {
			t.Fatal(err)
		}
		r := rundirtest.Fake(t, "runs/b", 1, "finished", tc.docs)
		if got := strings.Join(r.Left, "\n"); got != tc.left || (r.Eval == nil) != (tc.left != "") {
			t.Errorf("%s: %q, read %v, want %q", tc.name, got, r.Eval != nil, tc.left)
		}
	}
	r := rundirtest.Fake(t, "runs/c", 1, "finished", map[string]string{"cluster-kmeans/cluster.json": rundirtest.Replaced(rundirtest.ClusterFile, `"checkpoint": "last"`, `"run": "runs/a", "checkpoint": "last"`)})
	if err := r.ReadClusterings(); err != nil || len(r.Clusterings) != 0 || len(r.Left) != 1 {
		t.Errorf("%v, %d clusterings, %q", err, len(r.Clusterings), r.Left)
	}
}
