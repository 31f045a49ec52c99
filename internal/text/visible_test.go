package text

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 例": "plain ü 例", "two\nlines": `two\nlines`, "\x1b[31mred\ttab": `\x1b[31mred\ttab`, "": "",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
