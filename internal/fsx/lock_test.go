package fsx

import (
	"os"
	"path/filepath"
	"testing"
)

// What is wrong with a lock is distinguished from a lock that another holds.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer first.Close()
	if busy, err := Lock(first); busy || err != nil {
		t.Fatalf("a free file: busy %v, error %v", busy, err)
	}
	if busy, err := Lock(second); !busy || err == nil {
		t.Errorf("a held file: busy %v, error %v", busy, err)
	}
	second.Close()
	if busy, err := Lock(second); busy || err == nil {
		t.Errorf("a closed file: busy %v, error %v", busy, err)
	}
}
