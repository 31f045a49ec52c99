package data

import (
	"errors"

	"tercet/internal/data/fault"
)

// The kinds of errors about data; see package fault.
var (
	ErrMissing = fault.ErrMissing
	ErrFormat  = fault.ErrFormat
	ErrUnfit   = fault.ErrUnfit
)

// ErrColumn is in errors of a csv file without the column of labels that was asked for,
// or with several columns where none was.
var ErrColumn = errors.New("no such column of labels")

// columnError marks an error as an ErrColumn.
type columnError struct{ error }

func (e *columnError) Unwrap() []error { return []error{e.error, ErrColumn} }

func missing(cause error, format string, args ...any) error {
	return fault.Missing(cause, format, args...)
}

func bad(format string, args ...any) error { return fault.Bad(format, args...) }

func badCause(cause error, format string, args ...any) error {
	return fault.Of(ErrFormat, cause, format, args...)
}

func unfit(format string, args ...any) error { return fault.Unfit(format, args...) }
