package render

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Long notes are not cut.
func TestNotesAreWrapped(t *testing.T) {
	words := strings.Repeat("forty classes against the rest, ", 12)
	lines := wrapped(lettering(10, faint), words, vg.Points(300))
	if len(lines) < 3 || strings.Join(lines, " ") != strings.TrimSpace(words) {
		t.Errorf("%q", lines)
	}
}

func TestClosestColumn(t *testing.T) {
	if c := closestColumn("recall@1", []string{"run", "validation:recall@1", "test:recall@1"}); c != "test:recall@1" {
		t.Errorf("did you mean %q", c)
	}
}
