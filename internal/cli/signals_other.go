//go:build !unix

package cli

import (
	"errors"
	"os"
	"syscall"
)

var signalRules = []signalRule{{os.Interrupt, stop}, {syscall.SIGTERM, stop}}

// errClosed stands for a write to a stream whose reader has gone away, where the system
// has no such error.
var errClosed = errors.New("the reader of the stream has gone away")
