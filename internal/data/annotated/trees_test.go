package annotated_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/datatest"
)

// With TERCET_TREES=FOLDER (make field-trees) the datasets that TERCET_DATASETS names, or all,
// are written there in their true size: with small drawn images, or with links to the JPEG files
// in the folder TERCET_PHOTOS, for measurements.
func TestFieldTrees(t *testing.T) {
	dir := os.Getenv("TERCET_TREES")
	if dir == "" {
		t.Skip("needs TERCET_TREES=FOLDER, see make field-trees")
	}
	var photos []string
	if from := os.Getenv("TERCET_PHOTOS"); from != "" {
		var err error
		if photos, err = filepath.Glob(filepath.Join(from, "*.jpg")); err != nil || len(photos) == 0 {
			t.Fatalf("no photos in %s: %v", from, err)
		}
	}
	only := strings.Fields(os.Getenv("TERCET_DATASETS"))
	for _, d := range datasets() {
		name := strings.ReplaceAll(d.name, " ", "-")
		if len(only) == 0 || slices.Contains(only, name) {
			d.write(datatest.Tree{T: t, Dir: filepath.Join(dir, name), Classes: d.full, Images: true, Photos: photos})
		}
	}
}
