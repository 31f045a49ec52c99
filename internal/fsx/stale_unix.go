//go:build unix

package fsx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hold locks a temporary file for as long as it is open, so that removeStale of
// another process leaves it alone. A file system without locks leaves it to the
// number of the process.
func hold(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// removeStale removes the temporary files of dest that a killed process left: those
// of a process number that is not in use here and that nobody holds. It is no error
// if one stays: the next replacement of dest tries again.
func removeStale(dest string) {
	dir, base := filepath.Split(dest)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "."+base+".tmp-")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		var pid, i int
		if n, err := fmt.Sscanf(rest, "%d-%d", &pid, &i); n != 2 || err != nil || pid <= 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if f, err := os.Open(path); err == nil {
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
				os.Remove(path)
			}
			f.Close()
		}
	}
}
