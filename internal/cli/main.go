package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/tensors"
	"tercet/internal/run"
)

// Main runs one command line (without the program's name) and returns the exit
// code. stdout gets the result and nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := base.NewStreams(stdin, stdout, stderr)
	ctx, stop := withSignals(context.Background(), s)
	defer stop()
	err := execute(ctx, s, args)
	if err == nil && s.Written.Err != nil {
		err = fmt.Errorf("the result could not be written: %w", s.Written.Err)
	}
	code := base.ExitCode(err)
	if err != nil && s.OnEnd == "" {
		s.OnEnd = unread(args)
	}
	defer func() { onEnd(s, s.OnEnd, args, code) }()
	if errors.Is(s.Written.Err, errClosed) && (err == nil || errors.Is(err, errClosed)) {
		code = base.ExitClosed // by head, say, which has what it wanted
		return code
	}
	if err != nil {
		// After a mistake in the flags, --json may not have been read.
		s.JSON = s.JSON || slices.Contains(args, "--json")
		s.Report(err, code)
	}
	return code
}

func execute(ctx context.Context, s *base.Streams, args []string) (err error) {
	prof := &profiles{}
	defer func() {
		err = errors.Join(err, prof.stop())
		r := recover()
		if lost, ok := r.(*nn.EngineError); ok {
			err, r = errors.Join(err, lost), nil
		}
		if r != nil {
			err = fmt.Errorf("internal error: %v\n%s\nThis is a bug in the program; please report it with the output of tercet doctor", r, debug.Stack())
		}
	}()
	run.Version = base.BuildInfo().Version
	tensors.Install() // gonum and gorgonia multiply with our kernels
	root := newRoot(s, prof)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completeFlags(root)
	}
	root.SetArgs(moved(root, args))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	cmd, err := root.ExecuteContextC(ctx)
	var exit *base.ExitError
	if err != nil && cmd.Annotations[base.StartedKey] == "" && !errors.As(err, &exit) {
		return base.Usagef("%s (flags: %s --help)", flagGroups(err.Error()), cmd.CommandPath()) // cobra's own checks of flags
	}
	return err
}
