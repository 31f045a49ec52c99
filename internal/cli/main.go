package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"tercet/internal/engine/array"
	"tercet/internal/record"
	"tercet/internal/run"
)

// Main runs one command line (without the program's name) and returns the exit
// code. stdout gets the result and nothing else.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := newStreams(stdin, stdout, stderr)
	ctx, stop := withSignals(context.Background(), s)
	defer stop()
	err := execute(ctx, s, args)
	if err == nil && s.out.err != nil {
		err = fmt.Errorf("the result could not be written: %w", s.out.err)
	}
	if errors.Is(s.out.err, errClosed) && (err == nil || errors.Is(err, errClosed)) {
		return ExitClosed // by head, say, which has what it wanted
	}
	code := exitCode(err)
	if err != nil {
		// After a mistake in the flags, --json may not have been read.
		s.JSON = s.JSON || slices.Contains(args, "--json")
		s.report(err, code)
	}
	return code
}

func execute(ctx context.Context, s *Streams, args []string) (err error) {
	prof := &profiles{}
	defer func() {
		err = errors.Join(err, prof.stop())
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s\nThis is a fault of the program; please report it with the output of tercet doctor", r, debug.Stack())
		}
	}()
	run.Version = BuildInfo().Version
	array.Install() // gonum and gorgonia multiply with our kernels
	root := newRoot(s, prof)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.err)
	cmd, err := root.ExecuteContextC(ctx)
	var exit *ExitError
	if err != nil && cmd.Annotations[startedKey] == "" && !errors.As(err, &exit) {
		return usagef("%s (flags: %s --help)", flagGroups(err.Error()), cmd.CommandPath()) // cobra's own checks of flags
	}
	return err
}

// errorDocument is an error with --json.
type errorDocument struct {
	Schema   string `json:"schema"`
	Error    string `json:"error"`
	ExitCode int    `json:"exit_code"`
}

func (s *Streams) report(err error, code int) {
	if !s.JSON {
		s.stderr("tercet: " + err.Error() + "\n")
		return
	}
	data, _ := json.Marshal(errorDocument{record.ErrorSchema, err.Error(), code}) // strings and an int always encode
	s.stderr(string(data) + "\n")
}
