package store

import (
	"errors"
	"testing"
)

// A folder has one writer: a second is refused, with replace too, until the first ends.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := Begin(dir, "job", testDim, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if _, err := Begin(dir, "job", testDim, replace); !errors.Is(err, ErrBusy) {
			t.Errorf("a second writer, replace %v: %v", replace, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = Begin(dir, "job", testDim, false); err != nil {
		t.Fatal("after the first has ended:", err)
	}
	w.Close()
}
