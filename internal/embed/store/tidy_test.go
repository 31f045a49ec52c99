package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What a killed process has left is removed, what another one works on is not.
func TestTidy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{journalName, rowsName, documentName} {
		if err := os.WriteFile(path(name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := openJournal(path(journalName))
	if err != nil {
		t.Fatal(err)
	}
	if err := Tidy(dir); err != nil || !exists(path(rowsName)) {
		t.Errorf("while another process works: %v", err)
	}
	f.Close()
	for range 2 {
		if err := Tidy(dir); err != nil || exists(path(rowsName)) || exists(path(journalName)) || !exists(path(documentName)) {
			t.Errorf("afterwards: %v", err)
		}
	}
	if _, err := openJournal(path(journalName)); err != nil && !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}
