package data

import (
	"errors"
	"fmt"
)

var (
	// ErrMissing is wrapped by errors about files that are not there.
	ErrMissing = errors.New("data missing")
	// ErrFormat is wrapped by errors about files whose content is bad.
	ErrFormat = errors.New("bad data")
	// ErrUnfit is wrapped by errors about sound data that do not allow what was
	// asked for: too few samples, one class only.
	ErrUnfit = errors.New("data do not fit the request")
)

// fault is an error of one of the kinds above whose message does not repeat the
// kind's name.
type fault struct {
	kind  error
	msg   string
	cause error
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.msg + ": " + f.cause.Error()
	}
	return f.msg
}

func (f *fault) Unwrap() []error {
	if f.cause != nil {
		return []error{f.kind, f.cause}
	}
	return []error{f.kind}
}

// ErrColumn is in errors of a csv file without the column of labels that was asked for,
// or with several columns where none was.
var ErrColumn = errors.New("no such column of labels")

// columnError marks an error as an ErrColumn.
type columnError struct{ error }

func (e *columnError) Unwrap() []error { return []error{e.error, ErrColumn} }

func missing(cause error, format string, args ...any) error {
	return &fault{ErrMissing, fmt.Sprintf(format, args...), cause}
}

func bad(format string, args ...any) error {
	return &fault{ErrFormat, fmt.Sprintf(format, args...), nil}
}

func badCause(cause error, format string, args ...any) error {
	return &fault{ErrFormat, fmt.Sprintf(format, args...), cause}
}

func unfit(format string, args ...any) error {
	return &fault{ErrUnfit, fmt.Sprintf(format, args...), nil}
}
