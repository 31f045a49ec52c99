// Package fault has the three kinds of errors about data, so that readers below package data
// report as it does.
package fault

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

// Of returns an error of a kind; cause may be nil.
func Of(kind, cause error, format string, args ...any) error {
	return &fault{kind, fmt.Sprintf(format, args...), cause}
}

// Missing returns an ErrMissing.
func Missing(cause error, format string, args ...any) error {
	return Of(ErrMissing, cause, format, args...)
}

// Bad returns an ErrFormat.
func Bad(format string, args ...any) error { return Of(ErrFormat, nil, format, args...) }

// Unfit returns an ErrUnfit.
func Unfit(format string, args ...any) error { return Of(ErrUnfit, nil, format, args...) }
