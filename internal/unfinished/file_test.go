package unfinished

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/option"
)

func headOf(chunks int, level string) Head {
	return Head{Schema: "test/1", Chunks: chunks, Task: 1, Of: 2, Facts: []Fact{{"kernel level", level}}}
}

// Wherever a kill cuts the file off, what is whole is kept, and the rest is done again.
func TestAnyKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work")
	fill := func(want int) {
		t.Helper()
		f, err := Open(path, headOf(3, "a"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Done() != want {
			t.Errorf("%d chunks are there, want %d", f.Done(), want)
		}
		for chunk := range 3 {
			if !f.Has(chunk) {
				if err := f.Write(chunk, []int32{int32(chunk), 7}); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]int32, 2)
			if err := f.Read(chunk, got); err != nil || !slices.Equal(got, []int32{int32(chunk), 7}) {
				t.Fatalf("chunk %d: %v, %v", chunk, got, err)
			}
		}
	}
	fill(0)
	fill(3)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Index(string(whole), "\n") + 1
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		fill(max(0, cut-first) / (recordHead + 8))
		if again, _ := os.ReadFile(path); !slices.Equal(again, whole) {
			t.Fatalf("cut at %d: other bytes", cut)
		}
	}
	whole[len(whole)-1] ^= 1 // in the last record
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	fill(2)
}

// Work of other facts, and a file that is open elsewhere, are mistakes of the user.
func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work")
	f, err := Open(path, headOf(3, "a"))
	if err != nil {
		t.Fatal(err)
	}
	var usage *option.Error
	if _, err := Open(path, headOf(3, "a")); !errors.As(err, &usage) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("open twice: %v", err)
	}
	f.Close()
	for say, head := range map[string]Head{"kernel level: a there, b here": headOf(3, "b"), "parts: 3 there, 4 here": headOf(4, "a")} {
		if _, err := Open(path, head); !errors.As(err, &usage) || !strings.Contains(err.Error(), say) {
			t.Errorf("error %v, want %q", err, say)
		}
	}
	if _, err := Finished(path, headOf(3, "a")); err == nil || !strings.Contains(err.Error(), "unfinished, 0 of 3 parts") {
		t.Errorf("unfinished: %v", err)
	}
}
