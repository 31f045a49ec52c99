package base

import (
	"errors"

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
