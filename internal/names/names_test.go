package names

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, tc := range []struct{ word, want string }{
		{"magrin", "margin"}, {"Margin", "margin"}, {"distence", "distance"}, {"q", ""}, {"zebra", ""}, {"", ""}, {"7", ""},
		{"dist", "distance"}, {"forms-of-life", "form"}, // one begins with the other
		{long, ""}, {"margin" + long, "margin"},
		{"farm", "form"}, // not firm, which is as near but comes later
	} {
		if got := Closest(tc.word, []string{"distance", "margin", "form", "firm"}); got != tc.want {
			t.Errorf("%.20s: got %q, want %q", tc.word, got, tc.want)
		}
	}
	if got := Closest("resnet", []string{"lenet", "resnet18"}); got != "resnet18" {
		t.Errorf("resnet: got %q", got)
	}
	if got := Closest("margin", nil); got != "" {
		t.Errorf("out of nothing: %q", got)
	}
	if got := Closest("margin", []string{long}); got != "" {
		t.Errorf("got %.20s", got)
	}
}

func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"same", "same", 0}, {"ca", "abc", 3}} {
		if got := edits(tc.a, tc.b); got != tc.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
