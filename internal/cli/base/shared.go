package base

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/attack"
	"tercet/internal/cluster"
	"tercet/internal/config"
	"tercet/internal/metric"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
)

// Writable refuses a path to which no result is written, before the work.
func Writable(path string) error {
	if err := run.Writable(path); err != nil {
		return &ExitError{ExitUsage, err}
	}
	return nil
}

// KeptError says how a result that is not replaced can be, or where else the new one
// goes: the flag that place names, "" where there is none.
func KeptError(err error, place string) error {
	var kept *record.KeptError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &kept):
		return RunError(err)
	case place == "":
		return Usagef("%w; --force replaces it", err)
	}
	return Usagef("%w; %s writes elsewhere, --force replaces it", err, place)
}

// Completer proposes values of a flag that begin as word does.
type Completer = cobra.CompletionFunc

// Files completes an argument by files with these endings.
func Files(extensions ...string) Completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Begins keeps the words that begin with what was typed.
func Begins(values []string, word string) []string {
	var out []string
	for _, v := range values {
		if strings.HasPrefix(v, word) {
			out = append(out, v)
		}
	}
	return out
}

// ConfigKeys completes a config key.
func ConfigKeys() []string {
	var out []string
	for _, k := range config.Keys() {
		if !slices.Contains(out, k.Key) {
			out = append(out, k.Key)
		}
	}
	return out
}

// PlainTable is a table without lines, for reading and for awk.
func PlainTable(head ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft, t.Style().Box.PaddingRight = "", "  "
	t.AppendHeader(table.Row(head))
	t.SuppressTrailingSpaces()
	return t
}

// CountClasses is a number of classes in words.
func CountClasses(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

// Picture draws and says where; a picture that cannot be drawn is a note, the
// numbers stand.
func Picture(s *Streams, draw func() (string, error)) {
	path, err := draw()
	if err != nil {
		s.Note("no picture: %v", err)
		return
	}
	s.Note("drew %s", path)
}

// Bare says whether a format is for programs, which want numbers in full.
func Bare(format string) bool { return format == "csv" || format == "json" }

const UsageTemplate = `{{if or .Runnable .HasAvailableSubCommands}}Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{else if .Runnable}}
  {{.UseLine}}{{end}}
{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if .Groups}}{{range $group := .Groups}}
{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{else}}
Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{if .Runnable}}{{flagUsages .}}{{end}}{{with .Annotations}}{{with .exits}}
EXIT STATUS
{{. | trimTrailingWhitespaces}}
{{end}}{{end}}{{if .HasHelpSubCommands}}
More help:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  tercet help {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}`

// DidYouMean asks after the word of list that is closest to word; "" where none is close.
func DidYouMean(word string, list []string) string {
	if c := names.Closest(word, list); c != "" {
		return "did you mean " + c + "? "
	}
	return ""
}

// RunError gives an error about a run directory its exit code.
func RunError(err error) error {
	var exit *ExitError
	var option *option.Error
	var checkpoint *run.CheckpointError
	switch {
	case errors.As(err, &exit):
		return err
	case errors.As(err, &checkpoint):
		return &ExitError{ExitData, fmt.Errorf("%w: %s", err, insteadOf(checkpoint))}
	case errors.As(err, &option), errors.Is(err, run.ErrOtherRun), errors.Is(err, attack.ErrTooMany):
		return &ExitError{ExitUsage, err}
	case errors.Is(err, run.ErrNoRun), errors.Is(err, train.ErrCheckpoint),
		errors.Is(err, metric.ErrInput), errors.Is(err, cluster.ErrInput), errors.Is(err, attack.ErrUnfit):
		return &ExitError{ExitData, err}
	}
	return err
}

// insteadOf says how to go on with a run whose last checkpoint cannot be used.
func insteadOf(e *run.CheckpointError) string {
	resume := "`tercet train --resume " + e.Dir + " --from "
	if len(e.Offers) == 0 {
		return resume + run.Start + "` trains from the first step"
	}
	return resume + e.Offers[0].Name + "` continues from it, --from " + run.Start + " trains from the first step"
}
