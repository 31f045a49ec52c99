package base

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tercet/internal/config"
	"tercet/internal/data"
)

// Exit codes. They are part of the interface: scripts rely on them.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitData        = 3
	ExitGate        = 4
	ExitDiverged    = 5
	ExitInterrupted = 130
	ExitClosed      = 141 // what shells say of a process that a closed pipe has ended
)

// ExitTexts say what each exit code means, in the order of help.
var ExitTexts = []struct {
	Code int
	text string
}{
	{ExitDone, "done"},
	{ExitFailed, "failed"},
	{ExitUsage, "usage or config: a flag, an argument or a config key is wrong"},
	{ExitData, "input data are missing or bad"},
	{ExitGate, "a score missed its limit (%s)"},
	{ExitDiverged, "training diverged or collapsed"},
	{ExitInterrupted, "interrupted; a training run has written its checkpoint and can be resumed"},
	{ExitClosed, "stdout was closed before the whole result was written, as by head"},
}

// ExitError is an error that decides the exit code itself.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the wrapped error's text.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *ExitError) Unwrap() error { return e.Err }

// ErrInterrupted is the cause of a context that a signal canceled.
var ErrInterrupted = errors.New("interrupted")

// Usagef is a mistake in flags or arguments.
func Usagef(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// ExitCode is the one place where errors become exit codes.
func ExitCode(err error) int {
	var exit *ExitError
	var conf *config.Error
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &conf):
		return ExitUsage
	case errors.Is(err, data.ErrMissing), errors.Is(err, data.ErrFormat), errors.Is(err, data.ErrUnfit):
		return ExitData
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		return ExitFailed
	}
}

// GateFlags are the flags that ExitGate is about.
var GateFlags = []string{"--fail-under", "--fail-over"}

// ExitStatus is the EXIT STATUS section of a command that can end with the
// given codes; done, failed and usage are always among them. gates are those of
// GateFlags that it has.
func ExitStatus(codes []int, gates []string) string {
	var b strings.Builder
	for _, e := range ExitTexts {
		listed := e.Code == ExitDone || e.Code == ExitFailed || e.Code == ExitUsage
		for _, c := range codes {
			listed = listed || c == e.Code
		}
		if listed {
			text := e.text
			if e.Code == ExitGate {
				text = fmt.Sprintf(text, strings.Join(gates, ", "))
			}
			fmt.Fprintf(&b, "  %-3d  %s\n", e.Code, text)
		}
	}
	return b.String()
}
