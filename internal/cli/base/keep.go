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
