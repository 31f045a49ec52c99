package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"tercet/internal/cli/base"
)

// signalRule says what a command does on a signal. Signals without a rule do what the
// system, or Go, has them do.
type signalRule struct {
	signal os.Signal
	action signalAction
}

type signalAction int

const (
	// stop ends the command at its next safe moment, a second such signal at once.
	stop signalAction = iota
	// stopUnlessIgnored is stop where the process was not started with the signal
	// ignored, as nohup does with SIGHUP.
	stopUnlessIgnored
	// ignore: the signal changes nothing.
	ignore
)

// withSignals returns a context that the first signal whose rule is to stop cancels
// with the cause ErrInterrupted; the second ends the process at once.
func withSignals(parent context.Context, s *base.Streams) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	done := make(chan struct{})
	for _, r := range signalRules {
		switch {
		case r.action == ignore:
			signal.Ignore(r.signal)
		case r.action == stop, !signal.Ignored(r.signal):
			signal.Notify(ch, r.signal)
		}
	}
	go func() {
		for n := 0; ; n++ {
			select {
			case sig := <-ch:
				if n > 0 {
					os.Exit(base.ExitInterrupted)
				}
				s.Note("%v: stopping at the next safe moment; once more stops at once", sig)
				cancel(fmt.Errorf("%w by %v", base.ErrInterrupted, sig))
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
