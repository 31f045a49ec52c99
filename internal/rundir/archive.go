package rundir

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/archive"
)

// kept are the endings of a run's files that an archive holds: the config and all
// documents. Weights, logs, arrays, pictures and pages are not among them.
var kept = []string{".yaml", ".json", ".csv", ".json.gz", ".csv.gz"}

// Archive writes the documents of runs into an archive, each run in a folder of its name,
// and returns how many files that are; with logs also events.jsonl, which tables of what
// happened during training read. A run may be a link to its folder. Two runs of one name,
// and a run without documents, are errors that wrap ErrRun.
func Archive(to string, dirs []string, logs bool) (int, error) {
	files, from := map[string]string{}, map[string]string{}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err != nil {
			return 0, fmt.Errorf("%w: %s is in an archive already; name folders of runs", ErrRun, dir)
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return 0, err
		}
		name := filepath.Base(abs)
		if other := from[name]; other != "" {
			return 0, fmt.Errorf("%w: %s and %s have the same name; an archive holds one of them", ErrRun, other, dir)
		}
		from[name] = dir
		root, err := filepath.EvalSymlinks(dir) // a walk does not follow a link
		if err != nil {
			return 0, err
		}
		before := len(files)
		if err := documents(root, name, files, logs); err != nil {
			return 0, err
		}
		if len(files) == before {
			return 0, fmt.Errorf("%w: %s has no documents", ErrRun, dir)
		}
	}
	return len(files), archive.Write(to, files)
}

// documents adds a run's files to those of an archive.
func documents(dir, name string, files map[string]string, logs bool) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "checkpoints":
			return filepath.SkipDir
		case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || !isKept(e.Name()) && !(logs && e.Name() == "events.jsonl"):
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err == nil {
			files[path.Join(name, filepath.ToSlash(rel))] = file
		}
		return err
	})
}

func isKept(name string) bool {
	return slices.ContainsFunc(kept, func(ending string) bool { return strings.HasSuffix(name, ending) })
}
