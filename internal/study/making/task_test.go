package making

import (
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/testutil"
)

// Nothing more can be made of a run whose weights were removed, or are not with it.
func TestKept(t *testing.T) {
	for manifest, want := range map[string]bool{`{"status": "finished"}`: false, `{"status": "finished", "weights_removed": true}`: true, "{": false, "": false} {
		task := &Task{Dir: t.TempDir()}
		if err := os.Mkdir(filepath.Join(task.Dir, "checkpoints"), 0o755); err != nil {
			t.Fatal(err)
		}
		if manifest != "" {
			testutil.Write(t, filepath.Join(task.Dir, "manifest.json"), manifest)
		}
		if got := task.Kept(); got != want {
			t.Errorf("%s: %v", manifest, got)
		}
	}
}
