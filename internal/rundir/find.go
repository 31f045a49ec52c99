package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/archive"
	"tercet/internal/text"
)

// Find returns the run directories that patterns name, each once, in the
// order of the patterns. A pattern is a run directory, a folder or zip archive of run
// directories, or a glob of either, also in an archive (results.zip/mnist-*); within one, numbers in names count as
// numbers. Without patterns it is the folder runs. What names no run is an error that wraps ErrRun; a bad glob wraps
// filepath.ErrBadPattern.
func Find(patterns []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	if len(patterns) == 0 {
		patterns = []string{usual}
	}
	for _, p := range patterns {
		list, err := expand(p)
		if err != nil {
			return nil, err
		}
		for _, dir := range list {
			id, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			if real, err := filepath.EvalSymlinks(id); err == nil {
				id = real
			}
			if !seen[id] {
				seen[id] = true
				out = append(out, dir)
			}
		}
	}
	return out, nil
}

// usual is the folder of run directories where none is named.
const usual = "runs"

// NoRun says why path, which has no config.yaml, is no run directory, and what may be meant.
func NoRun(path string) string {
	near := filepath.Join(usual, path) // as in tercet eval first
	if filepath.IsAbs(path) || !isRun(near) {
		near = ""
	}
	if _, err := archive.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if near != "" {
			return fmt.Sprintf("%s does not exist; did you mean %s?", path, near)
		}
		if dirs, err := matching(path); err == nil { // as in tercet eval 'runs/*'
			return fmt.Sprintf("%s is a pattern of %s; name one, such as %s", path, text.Count(len(dirs), "run"), dirs[0])
		}
		return fmt.Sprintf("%s does not exist; a run directory is what `tercet train` makes", path)
	}
	if dirs, err := runsAt(path); err == nil && !isRun(path) {
		return fmt.Sprintf("%s has no config.yaml, but %s; name one, such as %s", path, text.Count(len(dirs), "run"), dirs[0])
	}
	if near != "" { // as a folder of images whose config has its name
		return fmt.Sprintf("%s has no config.yaml; did you mean %s?", path, near)
	}
	return path + " has no config.yaml; a run directory is what `tercet train` makes"
}

func expand(pattern string) ([]string, error) {
	_, err := archive.Stat(pattern)
	if err == nil {
		return runsAt(filepath.Clean(pattern))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return nil, fmt.Errorf("%w: %s", ErrRun, NoRun(pattern))
	}
	return matching(pattern)
}

// matching returns the run directories that a glob names.
func matching(pattern string) ([]string, error) {
	matches, err := archive.Glob(pattern)
	if errors.Is(err, archive.ErrArchive) {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	slices.SortFunc(matches, text.Natural)
	var out []string
	for _, m := range matches {
		if info, err := archive.Stat(m); err != nil || !info.IsDir() || archive.Is(m) && !archive.Is(pattern) {
			continue // files beside runs, such as a report
		}
		list, err := runsAt(m)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no folder matches %s", ErrRun, pattern)
	}
	return out, nil
}

// runsAt returns path, if it is a run directory, or else those in it.
func runsAt(path string) ([]string, error) {
	info, err := archive.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a file; name the run's directory", ErrRun, path)
	}
	if isRun(path) {
		return []string{path}, nil
	}
	entries, err := archive.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	var out []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); isRun(dir) {
			out = append(out, dir)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w: neither %s nor a folder in it has a manifest.json; a run directory is what `tercet train` makes", ErrRun, path)
	}
	slices.SortFunc(out, text.Natural)
	return out, nil
}

// Removed begins the names of directories that tercet runs is removing: no runs any more.
const Removed = ".removed-"

// isRun: a directory with only one of the two files is a broken run, which
// Read names; it is not passed over.
func isRun(dir string) bool {
	if name := filepath.Base(dir); strings.HasPrefix(name, Removed) || strings.HasPrefix(name, ".") && strings.Contains(name, ".tmp-") { // half removed, half made
		return false
	}
	for _, name := range []string{"manifest.json", "config.yaml"} {
		if info, err := archive.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}
