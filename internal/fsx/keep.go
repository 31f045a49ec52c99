package fsx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Keep makes kept a second name of the file at path, in place of what kept was; where
// the file system has no hard links, a copy. Write to path then leaves kept as it is.
// At no moment is kept half a file. Nothing happens where path does not exist.
func Keep(path, kept string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if same(path, kept) { // a rename would leave both names
		return nil
	}
	dir, base := filepath.Split(kept)
	tmp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d-0", base, os.Getpid()))
	if err := os.Link(path, tmp); err != nil {
		return Copy(path, kept)
	}
	if err := os.Rename(tmp, kept); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write %s: %w", kept, err)
	}
	return nil
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Copy makes to a file with the content of from.
func Copy(from, to string) error {
	in, _, err := OpenRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return Write(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
