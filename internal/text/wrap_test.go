package text

import (
	"strings"
	"testing"
)

// The words are those that went in, no line but that of a wide word is too long, and no
// line could take the first word of the next.
func TestWrap(t *testing.T) {
	t.Parallel()
	const words = "the error of a metric, over averylongwordthatfitsnowhere and über all"
	for width := 8; width < 80; width++ {
		out := Wrap(words, width, "  ")
		if strings.Join(strings.Fields(out), " ") != words {
			t.Fatalf("%d: %q", width, out)
		}
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		for i, line := range lines {
			if len([]rune(line)) > width && len(strings.Fields(line)) > 1 {
				t.Errorf("%d: line %q is too long", width, line)
			}
			if i > 0 && !strings.HasPrefix(line, "  ") {
				t.Errorf("%d: line %q is not indented", width, line)
			}
			if i+1 < len(lines) && len([]rune(line+" "+strings.Fields(lines[i+1])[0])) <= width {
				t.Errorf("%d: %q has room for more", width, line)
			}
		}
	}
}
