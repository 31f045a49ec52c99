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
	// To look leaves the lock as it is.
	third := open()
	defer third.Close()
	for _, want := range []bool{true, true, false, false} {
		if !want {
			first.Close()
		}
		if held, err := Held(third); held != want || err != nil {
			t.Errorf("held %v, error %v; want %v", held, err, want)
		}
	}
	fourth := open()
	defer fourth.Close()
	if busy, err := Lock(fourth); busy || err != nil {
		t.Errorf("a file that was looked at: busy %v, error %v", busy, err)
	}
}
