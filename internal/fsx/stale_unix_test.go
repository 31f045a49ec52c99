//go:build unix

package fsx

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A replacement removes what killed replacements of the same file left, and nothing
// else: neither files of running processes nor of other names.
func TestStaleTemporaryFiles(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	dead := ended.Process.Pid
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	stale := fmt.Sprintf(".a.json.tmp-%d-0", dead)
	stay := []string{fmt.Sprintf(".a.json.tmp-%d-7", os.Getpid()), fmt.Sprintf(".b.json.tmp-%d-0", dead), ".a.json.tmp-x-0", "a.json.tmp-1-0", fmt.Sprintf(".a.json.tmp-%d", dead)}
	held := fmt.Sprintf(".a.json.tmp-%d-1", dead) // as by a process of another machine
	for _, name := range append([]string{stale, held}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, held))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hold(f)
	if err := WriteFile(path, []byte("whole"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, stale)); err == nil {
		t.Errorf("%s stays", stale)
	}
	for _, name := range append(stay, held) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// A process that was killed while it asked whether a file can be made leaves nothing once
// another one has asked, in a folder that is not there yet, too.
func TestCheckFoldersRemovesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	left := filepath.Join(dir, fmt.Sprintf(".a.json.tmp-%d-0", cmd.Process.Pid))
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolders(filepath.Join(dir, "new", "a.json")); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v are left, %v", list, err)
	}
}
