//go:build unix

package cli

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/cli/base/basetest"
)

// Schedulers warn a job of its end with one of these; Go ignores the last two otherwise.
func TestSignalsThatStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		var b bytes.Buffer
		s, _ := basetest.Clock(&b)
		ctx, stop := withSignals(context.Background(), s)
		if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
			t.Errorf("%v does not stop a command", sig)
		}
		if cause := context.Cause(ctx); !errors.Is(cause, base.ErrInterrupted) || base.ExitCode(cause) != base.ExitInterrupted {
			t.Errorf("%v: cause %v", sig, cause)
		}
		stop()
	}
}
