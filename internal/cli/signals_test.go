package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/cli/base/basetest"
)

func TestTheFirstSignalCancelsWithACause(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot signal itself there")
	}
	var b bytes.Buffer
	s, _ := basetest.Clock(&b)
	ctx, stop := withSignals(context.Background(), s)
	defer stop()
	me, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := me.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the context was not canceled")
	}
	if cause := context.Cause(ctx); !errors.Is(cause, base.ErrInterrupted) || base.ExitCode(cause) != base.ExitInterrupted {
		t.Errorf("cause %v", cause)
	}
	if !strings.Contains(b.String(), "once more stops at once") {
		t.Errorf("told %q", b.String())
	}
}
