package fsx

import (
	"errors"
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
	// Many share a lock, and none shares what another holds alone.
	reader, other := open(), open()
	if err := errors.Join(Share(reader), Share(other)); err != nil {
		t.Error(err)
	}
	if busy, _ := Lock(third); !busy {
		t.Error("a shared file is taken")
	}
	reader.Close()
	other.Close()
	if busy, err := Lock(third); busy || err != nil {
		t.Errorf("a file that nobody shares any more: busy %v, error %v", busy, err)
	}
	late := open()
	defer late.Close()
	if Share(late) == nil {
		t.Error("a held file is shared")
	}
	third.Close()
	fourth := open()
	defer fourth.Close()
	if busy, err := Lock(fourth); busy || err != nil {
		t.Errorf("a file that was looked at: busy %v, error %v", busy, err)
	}
}
