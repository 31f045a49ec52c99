package base

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/render"
	"tercet/internal/text"
)

// The annotations of flags whose values are checked before the command runs.
const (
	leastKey = "least"
	wordsKey = "words"
)

// Least says that flags of whole numbers are n or more.
func Least(fs *pflag.FlagSet, n int, flags ...string) {
	for _, flag := range flags {
		annotate(fs.Lookup(flag), leastKey, strconv.Itoa(n))
	}
}

// Words declares a flag that takes one of some words, which shells complete.
func Words(fs *pflag.FlagSet, to *string, flag, standard string, words []string, usage string) {
	fs.StringVar(to, flag, standard, usage)
	annotate(fs.Lookup(flag), wordsKey, words...)
}

// WordsOf are those that a flag takes; nil where it takes others, too.
func WordsOf(f *pflag.Flag) []string { return f.Annotations[wordsKey] }

// AddFormat declares the flag of commands that print a table.
func AddFormat(fs *pflag.FlagSet, to *string) {
	Words(fs, to, "format", "text", render.Formats(), "table format: "+strings.Join(render.Formats(), ", "))
}

// Exclusive says that a flag goes with none of the others.
func Exclusive(cmd *cobra.Command, flag string, others ...string) {
	for _, other := range others {
		cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// checkRules refuses a value that is not as Least or Words say.
func checkRules(f *pflag.Flag) error {
	value := f.Value.String()
	if least := f.Annotations[leastKey]; least != nil {
		n, errN := strconv.Atoi(value)
		low, errLow := strconv.Atoi(least[0])
		if errN == nil && errLow == nil && n < low {
			return Usagef("--%s is %d; give at least %d", f.Name, n, low)
		}
	}
	words := WordsOf(f)
	switch {
	case words == nil || slices.Contains(words, value) || value == f.DefValue:
		return nil
	case slices.Equal(words, render.Formats()):
		return &ExitError{ExitUsage, render.CheckFormat(value)}
	}
	return Usagef("--%s is %q; give %s", f.Name, value, text.List(words, "or"))
}
