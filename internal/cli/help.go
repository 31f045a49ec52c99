package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/engine/kernel"
	"tercet/internal/record"
)

// helpDocument is a help text with --json.
type helpDocument struct {
	Schema  string `json:"schema"`
	Command string `json:"command"`
	Text    string `json:"text"`
}

func newHelp(s *Streams, root *cobra.Command) *cobra.Command {
	cmd := command{
		use:       "help [COMMAND | TOPIC]",
		short:     "Show the help of a command or topic",
		long:      "Show the help of a command, as COMMAND --help does, or of a topic.",
		args:      cobra.ArbitraryArgs,
		anyKernel: true,
		examples: []example{
			{why: "a command", line: "tercet help config check"},
			{why: "a topic", line: "tercet help exit-codes"},
		},
		run: func(_ context.Context, args []string) error { return runHelp(s, root, args) },
	}.build()
	cmd.GroupID = groupHelp
	return cmd
}

func runHelp(s *Streams, root *cobra.Command, args []string) error {
	at := root
	for _, word := range args {
		var next *cobra.Command
		var names []string
		for _, c := range at.Commands() {
			names = append(names, c.Name())
			if c.Name() == word || c.HasAlias(word) {
				next = c
			}
		}
		if next == nil && len(names) == 0 {
			return usagef("%s has no commands, so there is no help on %q in it; try: tercet help %[1]s", strings.TrimPrefix(at.CommandPath(), "tercet "), word)
		}
		if next == nil {
			return usagef("there is no help on %q; %stry: %s", word, didYouMean(word, names), strings.Join(names, ", "))
		}
		at = next
	}
	return showHelp(s, at)
}

// setHelp makes --help a result like any other: on stdout, JSON with --json.
func setHelp(s *Streams, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		// Only writing can fail, and Main sees that on the stream itself.
		_ = showHelp(s, cmd)
	})
}

func showHelp(s *Streams, cmd *cobra.Command) error {
	cmd.InitDefaultHelpFlag()
	text := helpText(cmd)
	return s.Result(helpDocument{record.HelpSchema, cmd.CommandPath(), text}, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// helpText lays out a command's help: what it does, examples, then the rest.
func helpText(cmd *cobra.Command) string {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	text := strings.TrimSpace(about) + "\n"
	if cmd.HasExample() {
		text += "\nExamples:\n" + cmd.Example + "\n"
	}
	if usage := cmd.UsageString(); usage != "" {
		text += "\n" + usage
	}
	return text
}

// newExitCodes is a topic: a command that cannot run, of which only the help
// exists.
func newExitCodes(*Streams) *cobra.Command {
	all := make([]int, 0, len(exitTexts))
	for _, e := range exitTexts {
		all = append(all, e.code)
	}
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every command ends with one of these codes; scripts may rely on them.

` + exitStatus(all, gateFlags) + `
With --json, an error is the last line of stderr:
  {"schema":"` + record.ErrorSchema + `","error":"...","exit_code":2}`,
	}
}

// newEnvironment is a topic, as newExitCodes.
func newEnvironment(*Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "What the environment variables do",
		Long: `The environment variables that Tercet reads:

  ` + kernel.EnvLevel + `    the kernel level: avx512, avx2 or generic; the best one that the
                   processor has by default. Levels agree but for rounding.
  ` + kernel.EnvWinograd + `  how convolutions are planned: auto (default), by a rule in their
                   shape and the kernel level; off, no Winograd, the most exact
                   results; measure, by timing each algorithm when a network is built,
                   which other machines and other runs may decide in another way.
  NO_COLOR         no colours, if set to anything
  TERM             no colours, if it is dumb

The first two change the last bits of results; the manifest of a run
and the JSON of tercet bench record them.`,
	}
}
