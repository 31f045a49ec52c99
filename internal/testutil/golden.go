package testutil

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Updating reports whether goldens are written and not compared: make golden sets
// TERCET_UPDATE_GOLDEN.
func Updating() bool { return os.Getenv("TERCET_UPDATE_GOLDEN") != "" }

// Golden compares got with the file at path, or writes the file when Updating.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if Updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		Write(t, path, string(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v (make golden writes it)", err)
		return
	}
	if string(want) != string(got) {
		t.Errorf("differs from %s (- golden, + now; make golden writes it again):\n%s", path, Diff(string(want), string(got)))
	}
}

// diffLines is how much of each side a Diff shows.
const diffLines = 30

// Diff shows the lines between the first and the last difference of two texts.
func Diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var out strings.Builder
	side := func(mark string, lines []string) {
		for i, line := range lines {
			if i == diffLines {
				out.WriteString(mark + " ...\n")
				return
			}
			out.WriteString(mark + " " + line + "\n")
		}
	}
	side("-", a[first:len(a)-last])
	side("+", b[first:len(b)-last])
	return out.String()
}

// ReadJSON decodes the file at path, such as a golden that another program made.
func ReadJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
