package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/fsx"
)

// runParts are what a run consists of beside its results.
var runParts = []string{"config.yaml", "manifest.json", "events.jsonl", "lock", "checkpoints"}

// Writable refuses a path to which no result is written, not even by --force: what is no
// regular file, and the config, the manifest, the log, the lock and the checkpoints of a
// run.
func Writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file that can be replaced; %w", path, fsx.ErrNotRegular)
	case err != nil:
		if err := fsx.CheckFolders(path); err != nil {
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, p := range []string{path, target(path)} {
		dir, base := filepath.Split(filepath.Clean(p))
		if filepath.Base(filepath.Clean(dir)) == "checkpoints" {
			dir, base = filepath.Dir(filepath.Clean(dir)), "checkpoints"
		}
		for _, part := range runParts {
			if strings.EqualFold(base, part) && holdsRun(dir) {
				return fmt.Errorf("%w: %s is part of the run %s, which no result replaces; give another file", ErrOtherRun, path, filepath.Clean(dir))
			}
		}
	}
	return nil
}

// target is path without symbolic links, of its folder where it is not there itself.
func target(path string) string {
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// holdsRun reports whether dir is a run's, also one that has lost a part.
func holdsRun(dir string) bool {
	n := 0
	for _, part := range runParts {
		if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
			n++
		}
	}
	return n >= 2
}
