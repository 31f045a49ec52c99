package experiment

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/names"
)

// KeptError refuses to replace a result by one that does not cover it.
type KeptError struct {
	Path string
	Lost []string // what the new result would not have
	Own  string   // the name under which this version keeps such a result, if another
}

// Error says what would be lost.
func (e *KeptError) Error() string {
	msg := fmt.Sprintf("replacing %s would lose: %s", e.Path, strings.Join(e.Lost, "; "))
	if e.Own != "" {
		msg += fmt.Sprintf(" (an older version has written it; rename it to %s to keep it)", e.Own)
	}
	return msg
}

// ResultPath is where a result of a kind goes, a JSON document, in dir.
func ResultPath(dir, kind, split, checkpoint string) string {
	return filepath.Join(dir, names.Result(kind, split, checkpoint)+".json")
}

// Protect is the rule by which results are replaced: it returns a *KeptError where a
// result of the run's checkpoint on a split, to be written to path, would not cover the
// one of there, which path holds. It covers that if lost, what it would not have of it,
// is empty and both are of the same weights and images, or if the run has gone on since.
func (r *Run) Protect(path string, there Source, split, checkpoint string, lost []string) error {
	if !r.Owns(path, there) {
		of := there.Run
		if of == "" {
			of = there.Embeddings
		}
		return &KeptError{Path: path, Lost: []string{"the result of " + of}}
	}
	now, err := r.Step(there.Checkpoint)
	if err != nil || now != there.Step {
		return nil // the run has gone on
	}
	step, err := r.Step(checkpoint)
	if err != nil {
		return err
	}
	if there.Set != split || there.Step != step {
		own := ownName(path, there, split, checkpoint)
		return &KeptError{Path: path, Lost: []string{fmt.Sprintf("the result of the %s images, checkpoint %s", there.Set, there.Checkpoint)}, Own: own}
	}
	if len(lost) == 0 {
		return nil
	}
	return &KeptError{Path: path, Lost: lost}
}

// ownName is the name that a result of there has, where path, that of another split or
// checkpoint, is not it. A clustering is many files.
func ownName(path string, there Source, split, checkpoint string) string {
	base := strings.TrimSuffix(filepath.Base(path), ".json")
	kind := strings.TrimSuffix(base, names.Result("", split, checkpoint))
	if own := names.Result(kind, there.Set, there.Checkpoint); own != base && kind != "cluster" && kind != "noise" {
		return own + ".json"
	}
	return ""
}

// Owns reports whether the result in path is of the run, whose directory may have been
// moved.
func (r *Run) Owns(path string, of Source) bool {
	within, err := filepath.Rel(r.Dir, path)
	return err == nil && filepath.IsLocal(within) || of.Run == r.Dir
}

// FigureFolder is where pictures of a result go.
func FigureFolder(dir, split, checkpoint string) string {
	return filepath.Join(dir, names.Result("figures", split, checkpoint))
}

// ClusterFolder is where a clustering of the run goes, with all its files: the run's
// directory for the test images and the last checkpoint, otherwise a folder there.
func (r *Run) ClusterFolder(split, checkpoint string) string {
	if name := names.Result("cluster", split, checkpoint); name != "cluster" {
		return r.Path(name)
	}
	return r.Dir
}
