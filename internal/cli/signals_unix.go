//go:build unix

package cli

import (
	"os"
	"syscall"
)

// signalRules: schedulers warn a job of its end with SIGTERM, SIGUSR1 or SIGUSR2. A closed
// terminal (SIGHUP) stops a command as Ctrl-C does. A stream whose
// reader has gone away (SIGPIPE) shows as an error of the write to it, so that training
// survives the loss of its messages.
var signalRules = []signalRule{
	{os.Interrupt, stop},
	{syscall.SIGTERM, stop},
	{syscall.SIGUSR1, stop},
	{syscall.SIGUSR2, stop},
	{syscall.SIGHUP, stopUnlessIgnored},
	{syscall.SIGPIPE, ignore},
}

// errClosed is the error of a write to a stream whose reader has gone away.
var errClosed error = syscall.EPIPE
