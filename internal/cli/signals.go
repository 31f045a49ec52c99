package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// withSignals returns a context that the first Ctrl-C or SIGTERM cancels with
// the cause ErrInterrupted; the second ends the process at once.
func withSignals(parent context.Context, s *Streams) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		for n := 0; ; n++ {
			select {
			case sig := <-ch:
				if n > 0 {
					os.Exit(ExitInterrupted)
				}
				s.Note("%v: stopping at the next safe moment; once more stops at once", sig)
				cancel(fmt.Errorf("%w by %v", ErrInterrupted, sig))
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}
