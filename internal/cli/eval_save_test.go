package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/engine/array"
)

// Embeddings are written under the name that is given, their labels beside it; the help
// says so.
func TestSavedEmbeddingsAreNamedAsGiven(t *testing.T) {
	for _, name := range []string{"X.npy", "X"} {
		dir := t.TempDir()
		if err := saveEmbeddings(filepath.Join(dir, name), array.New(2, 3), []int32{0, 1}); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{name, "X.labels.npy"} {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
			t.Errorf("%s: files %v, error %v", name, list, err)
		}
	}
	if help := newEval(&Streams{}).Flag("save-embeddings").Usage; strings.Contains(help, "`FILE`.npy") || !strings.Contains(help, "X.labels.npy") {
		t.Errorf("help %q", help)
	}
}
