package base

import (
	"errors"
	"os"

	"tercet/internal/embed/store"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Writable refuses a path to which no result is written, before the work.
func Writable(path string) error {
	if err := run.Writable(path); err != nil {
		return &ExitError{ExitUsage, err}
	}
	return nil
}

// NotInput refuses to write a file or folder, "" for none, over one that the command reads,
// alone or in a folder of tercet embed, before the work and whatever is forced.
func NotInput(flag, path string, inputs ...string) error {
	at, err := os.Stat(path)
	if err != nil {
		return nil // it is not there, or Writable says what is wrong
	}
	for _, in := range inputs {
		inputs = append(inputs, store.Files(in)...)
	}
	for _, in := range inputs {
		if read, err := os.Stat(in); err == nil && os.SameFile(at, read) {
			return Usagef("%s %s is what the command reads; give another path", flag, path)
		}
	}
	return nil
}

// Placeable refuses paths, "" for none, that lie below what is no folder, before the work.
func Placeable(paths ...string) error {
	for _, p := range paths {
		if p == "" {
			continue
		}
		if err := fsx.CheckFolders(p); err != nil {
			return &ExitError{ExitUsage, err}
		}
	}
	return nil
}

// Replacing says what a command does with a result that is there.
type Replacing struct {
	Force    bool
	IfNeeded bool   // show it, where it has what is asked for
	Place    string // the flag that writes elsewhere
}

// Stored returns the result in path where it holds what is asked for, is of the run's
// weights and images that o names, and is to be shown. It refuses, before the work, to
// replace one that now, the new one as far as it is known, does not cover.
func Stored[T record.Result[T]](r *run.Run, o *Subject, path string, with Replacing, now T, holds func(there *T) (bool, error)) (*T, error) {
	if err := Writable(path); err != nil || with.Force {
		return nil, err
	}
	d, err := record.ReadKept[T](path)
	if d == nil {
		return nil, KeptError(err, with.Place)
	}
	step, err := r.Step(o.Checkpoint)
	if err != nil {
		return nil, RunError(err)
	}
	from := (*d).From()
	if with.IfNeeded && r.Owns(path, from) && r.Measures(from, o.Checkpoint, step, o.Set) {
		if is, err := holds(d); err != nil || is {
			return d, RunError(err)
		}
	}
	return nil, KeptError(r.Protect(path, from, o.Set, o.Checkpoint, now.Covers(*d)), with.Place)
}

// KeptError says how a result that is not replaced can be, or where else the new one
// goes: the flag that place names, "" where there is none.
func KeptError(err error, place string) error {
	var kept *record.KeptError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &kept):
		return RunError(err)
	case place == "":
		return Usagef("%w; --force replaces it", err)
	}
	return Usagef("%w; %s writes elsewhere, --force replaces it", err, place)
}
