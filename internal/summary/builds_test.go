package summary

import (
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/rundir/rundirtest"
)

// A run that was trained at two kernel levels says so, alone and among others.
func TestRunsOfSeveralKernels(t *testing.T) {
	t.Chdir(t.TempDir())
	a := rundirtest.Fake(t, "a", 0, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)})
	b := rundirtest.Fake(t, "b", 1, "finished", map[string]string{"eval.json": rundirtest.EvalFile(0.5, 0)})
	b.Manifest.Builds = []record.Build{{Step: 0, Version: "v1", Kernel: "avx2"}, {Step: 40, Version: "v1", Kernel: "generic"}, {Step: 60, Version: "v2", Kernel: "generic"}}
	notes := strings.Join(summarize(t, []*rundir.Run{a, b}, Options{}).Notes, "\n") + "\n"
	for _, want := range []string{
		"b: trained at several kernel levels (avx2, from step 40 generic); the last bits differ from a run at one\n",
		"made at different kernel levels: avx2 (a), avx2, from step 40 generic (b)\n",
		"made by different versions: v1 (a), v1, from step 60 v2 (b)\n",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("missing %q in\n%s", want, notes)
		}
	}
}
