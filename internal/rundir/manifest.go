package rundir

import (
	"errors"
	"fmt"
	"os"

	"tercet/internal/record"
)

// Kernels are the kernel levels that have trained the run, with the step at which each
// but the first began.
func (r *Run) Kernels() string {
	return r.builtOver(r.Manifest.Kernel, func(b record.Build) string { return b.Kernel })
}

// Versions are the versions that have trained the run, in the same way.
func (r *Run) Versions() string {
	return r.builtOver(r.Manifest.Version, func(b record.Build) string { return b.Version })
}

func (r *Run) builtOver(first string, of func(record.Build) string) string {
	out, was := first, first
	for _, b := range r.Manifest.Builds {
		if v := of(b); v != was {
			out, was = fmt.Sprintf("%s, from step %d %s", out, b.Step, v), v
		}
	}
	return out
}

// SetOf is the set of a split, without items where there is none.
func SetOf(d record.Data, split string) record.Set {
	switch {
	case split == "train":
		return d.Train
	case split != "validation":
		return d.Test
	case d.Validation == nil:
		return record.Set{}
	}
	return *d.Validation
}

// read reads a document; nil where there is no such file. Errors wrap ErrRun.
func read[T record.Document](path string) (*T, error) { return ifThere(record.Read[T](path)) }

func ifThere[T record.Document](d *T, err error) (*T, error) {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	return d, nil
}

// ReadDocument reads the document at path, which must be of one of the given schemas, into
// v, which takes what it knows of it. found is false where there is no such file. Errors
// wrap ErrRun.
func ReadDocument(path string, v any, schemas ...string) (found bool, err error) {
	err = record.ReadAs(path, v, schemas...)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrRun, err)
	}
	return true, nil
}
