package runs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/record/printed"
	"tercet/internal/run"
)

// removable refuses to remove what is not surely a run, or is in use: a link, a directory
// in an archive, one with other runs or with files that no run has before it begins, and
// one that a process trains or reads. Nothing is removed then, of no run.
func (r removal) removable() error {
	switch info, err := os.Lstat(r.Dir); {
	case err != nil:
		return base.Usagef("%s is in an archive, from which nothing is removed; name folders of runs", r.Dir)
	case info.Mode()&os.ModeSymlink != 0:
		return base.Usagef("%s is a link, and nothing is removed through one; name the folder itself", r.Dir)
	}
	if r.files != nil {
		if info, err := os.Lstat(filepath.Join(r.Dir, "checkpoints")); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return base.Usagef("%s is a link, and nothing is removed through one", filepath.Join(r.Dir, "checkpoints"))
		}
	} else if err := r.begun(); err != nil {
		return err
	}
	if run.InUse(r.Dir) {
		return r.busy()
	}
	return filepath.WalkDir(r.Dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == "manifest.json" && r.files == nil && !r.own(filepath.Dir(path)):
			return base.Usagef("%s has another run in it, %s; remove that first, or move it away: nothing was removed", r.Dir, filepath.Dir(path))
		case e.Name() != "lock" || !e.Type().IsRegular():
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if held, err := fsx.Held(f); err != nil || held {
			return r.busy()
		}
		return nil
	})
}

func (r removal) busy() error {
	return base.Usagef("a process works on %s; stop it first, or leave the run out: nothing was removed", r.Dir)
}

// own says that a directory with a manifest is the run's, or that of a retrained network of
// tercet stability.
func (r removal) own(dir string) bool {
	return dir == filepath.Clean(r.Dir) || strings.HasPrefix(dir, filepath.Join(r.Dir, "stability")+string(filepath.Separator))
}

// begun refuses a directory that may be something else than a run: without a manifest that
// can be read, it must have what training writes, and before that nothing but its config.
func (r removal) begun() error {
	var others []string
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	switch {
	case r.Status == printed.Unreadable && !(has("config.yaml") && (has("events.jsonl") || has("checkpoints"))):
		return base.Usagef("%s may not be a run: its manifest cannot be read, and there is no config.yaml with events.jsonl or checkpoints; nothing was removed", r.Dir)
	case r.Status != printed.NotBegun:
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); name != "config.yaml" && name != "lock" && !strings.HasPrefix(name, ".") {
			others = append(others, name)
		}
	}
	if others != nil {
		return base.Usagef("%s may not be a run: it has a config.yaml, no manifest.json, and %s; nothing was removed", r.Dir, strings.Join(others[:min(len(others), 3)], ", "))
	}
	return nil
}
