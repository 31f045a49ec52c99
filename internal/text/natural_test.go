package text

import (
	"cmp"
	"testing"
)

func TestNatural(t *testing.T) {
	list := []string{"", "a", "a-2", "a-10", "a-10b", "a-010x", "b1", "b01c"}
	for i, a := range list {
		for j, b := range list {
			if got := Natural(a, b); got != cmp.Compare(i, j) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"runs/a-1": "runs/a-1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "*": "'*'"} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
