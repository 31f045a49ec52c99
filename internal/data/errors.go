package data

import (
	"tercet/internal/data/fault"
)

// The kinds of errors about data; see package fault.
var (
	ErrMissing = fault.ErrMissing
	ErrFormat  = fault.ErrFormat
	ErrUnfit   = fault.ErrUnfit
)

func missing(cause error, format string, args ...any) error {
	return fault.Missing(cause, format, args...)
}

func bad(format string, args ...any) error { return fault.Bad(format, args...) }

func badCause(cause error, format string, args ...any) error {
	return fault.Of(ErrFormat, cause, format, args...)
}

func unfit(format string, args ...any) error { return fault.Unfit(format, args...) }
