package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
)

// A run that was trained at two kernel levels says so, alone and among others.
func TestRunsOfSeveralKernels(t *testing.T) {
	t.Chdir(t.TempDir())
	a := fake(t, "a", 0, "finished", map[string]string{"eval.json": evalFile(0.5, 0)})
	b := fake(t, "b", 1, "finished", map[string]string{"eval.json": evalFile(0.5, 0)})
	b.Manifest.Builds = []record.Build{{Step: 0, Version: "v1", Kernel: "avx2"}, {Step: 40, Version: "v1", Kernel: "generic"}, {Step: 60, Version: "v2", Kernel: "generic"}}
	notes := strings.Join(summarize(t, []*RunDir{a, b}, Options{}).Notes, "\n") + "\n"
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

// A number that was changed after it was written is not reported.
func TestAResultThatDoesNotMatchItsDigest(t *testing.T) {
	t.Chdir(t.TempDir())
	fake(t, "a", 0, "finished", nil)
	doc, err := record.Seal([]byte(evalFile(0.5, 0)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("a", "eval.json")
	for _, tc := range []struct {
		text string
		ok   bool
	}{{string(doc), true}, {strings.Replace(string(doc), "0.5", "0.7", 1), false}} {
		if err := os.WriteFile(path, []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRun("a")
		if ok := err == nil; ok != tc.ok || !ok && !(errors.Is(err, ErrRun) && errors.Is(err, record.ErrDigest) && strings.Contains(err.Error(), path)) {
			t.Errorf("%v", err)
		}
	}
}
