package run

import (
	"fmt"
	"path/filepath"

	"tercet/internal/names"
	"tercet/internal/record"
)

// Keep is the rule by which results are replaced: it returns a *record.KeptError where
// now, to be a result of the run's checkpoint on a split, would not cover the one that
// path holds. See Protect.
func Keep[T record.Result[T]](r *Run, path string, now T, split, checkpoint string) error {
	there, err := record.ReadKept[T](path)
	if there == nil {
		return err
	}
	return r.Protect(path, (*there).From(), split, checkpoint, now.Covers(*there))
}

// ResultPath is where a result of a kind goes, a JSON document, in dir.
func ResultPath(dir, kind, split, checkpoint string) string {
	return filepath.Join(dir, names.Result(kind, split, checkpoint)+".json")
}

// Protect returns a *KeptError where a
// result of the run's checkpoint on a split, to be written to path, would not cover the
// one of there, which path holds. It covers that if lost, what it would not have of it,
// is empty and both are of the same weights and images, or if the run has gone on since:
// the checkpoint of there is a later one now, and so is the one of the result. A
// checkpoint that is older than there, or cannot be read, is no reason to replace it.
func (r *Run) Protect(path string, there record.Source, split, checkpoint string, lost []string) error {
	if !r.Owns(path, there) {
		return &record.KeptError{Path: path, Lost: []string{"the result of " + there.Of()}}
	}
	step, err := r.Step(checkpoint)
	if err != nil {
		return err
	}
	now := step
	if there.Checkpoint != checkpoint { // a checkpoint is read whole
		if now, err = r.Step(there.Checkpoint); err != nil {
			now = 0
		}
	}
	if now > there.Step && step > there.Step {
		return nil // the run has gone on
	}
	if there.Set != split || there.Step != step {
		own := ownName(path, there, split, checkpoint)
		return &record.KeptError{Path: path, Lost: []string{fmt.Sprintf("the result of the %s images, checkpoint %s of step %d", there.Set, there.Checkpoint, there.Step)}, Own: own}
	}
	if len(lost) == 0 {
		return nil
	}
	return &record.KeptError{Path: path, Lost: lost}
}

// Keeper refuses, before the work, to replace a result by that of a source; nil for
// where nothing is replaced.
type Keeper func(record.Source) error

// Check asks the keeper, if there is one.
func (k Keeper) Check(s record.Source) error {
	if k == nil {
		return nil
	}
	return k(s)
}

// alone are the kinds of results that are one document.
var alone = []string{"eval", "attack", "curve", "worst", "certify", "gap", "stability", "on-average", "influence"}

// ownName is the name that a result of there has, where path is that of another split or
// checkpoint, under which only an older version can have kept it.
func ownName(path string, there record.Source, split, checkpoint string) string {
	for _, kind := range alone {
		if filepath.Base(path) != names.Result(kind, split, checkpoint)+".json" {
			continue
		}
		if own := there.File(kind); own != filepath.Base(path) {
			return own
		}
	}
	return ""
}

// Owns reports whether the result in path is of the run, whose directory may have been
// moved.
func (r *Run) Owns(path string, of record.Source) bool {
	if of.Run == "" { // of files
		return false
	}
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
