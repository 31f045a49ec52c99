package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func meanIs(t *testing.T, what string, e Estimate, value, half float64, n int) {
	t.Helper()
	if e.Value == nil || math.Abs(*e.Value-value) > 1e-12 || e.N != n {
		t.Errorf("%s: %+v, want %v of %d", what, e, value, n)
		return
	}
	if e.CI95 == nil || math.Abs(e.CI95[0]-(value-half)) > 1e-9 || math.Abs(e.CI95[1]-(value+half)) > 1e-9 {
		t.Errorf("%s: interval %v, want %v +- %v", what, e.CI95, value, half)
	}
}

// t(0.975, 2) = 4.302652729911275; the deviation of 0.1, 0.2, 0.3 is 0.1.
const halfOfTenth = 4.302652729911275 * 0.1 / 1.7320508075688772

// inSVG looks for words in a picture.
func inSVG(t *testing.T, path string, want ...string) {
	t.Helper()
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(svg), ">"+w+"<") {
			t.Errorf("no %q in %s", w, filepath.Base(path))
		}
	}
}
