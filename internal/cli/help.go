package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/engine/kernel"
	"tercet/internal/lists"
	"tercet/internal/par"
	"tercet/internal/ranks/mpi"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/scheduler"
)

func newHelp(s *base.Streams, root *cobra.Command) *cobra.Command {
	cmd := base.Command{
		Use:       "help [COMMAND | TOPIC]",
		Paged:     true,
		Short:     "Shows the help of a command or topic",
		Long:      "Show the help of a command, as COMMAND --help does, or of a topic.",
		Args:      cobra.ArbitraryArgs,
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "a command", Line: "tercet help config check"},
			{Why: "a topic", Line: "tercet help exit-codes"},
		},
		Run: func(_ context.Context, args []string) error { return runHelp(s, root, args) },
	}.Build()
	cmd.GroupID = groupHelp
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		at, _, err := root.Find(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := lists.Map(lists.Filter(at.Commands(), func(c *cobra.Command) bool { return !c.Hidden }), (*cobra.Command).Name)
		return base.Begins(names, word), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func runHelp(s *base.Streams, root *cobra.Command, args []string) error {
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
			return base.Usagef("%s has no commands, so it has no help on %q; try: tercet help %[1]s", strings.TrimPrefix(at.CommandPath(), "tercet "), word)
		}
		if next == nil {
			return base.Usagef("no help on %q; %stry: %s", word, base.DidYouMean(word, names), strings.Join(names, ", "))
		}
		at = next
	}
	return showHelp(s, at)
}

// setHelp makes --help a result like any other: on stdout, JSON with --json.
func setHelp(s *base.Streams, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		off, _ := cmd.Flags().GetBool("no-pager")
		s.SetPager(!off, os.LookupEnv)
		// Only writing can fail, and Main sees that on the stream itself.
		_ = showHelp(s, cmd)
	})
}

func showHelp(s *base.Streams, cmd *cobra.Command) error {
	cmd.InitDefaultHelpFlag()
	text := helpText(cmd)
	return s.Text(printed.Help{Schema: record.HelpSchema, Command: cmd.CommandPath(), Text: text}, text)
}

// helpText lays out a command's help: what it does, examples, then the rest.
func helpText(cmd *cobra.Command) string {
	about := cmp.Or(cmd.Long, cmd.Short)
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
func newExitCodes(*base.Streams) *cobra.Command {
	all := make([]int, 0, len(base.ExitTexts))
	for _, e := range base.ExitTexts {
		all = append(all, e.Code)
	}
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Every command exits with one of these codes. They are stable; scripts can rely on them.

` + base.ExitStatus(all, base.GateFlags) + `
With --json, an error is the last line of stderr:
  {"schema":"` + record.ErrorSchema + `","error":"...","exit_code":2}`,
	}
}

// newEnvironment is a topic, as newExitCodes.
func newEnvironment(*base.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "What the environment variables do",
		Long: `The environment variables that Tercet reads:

  ` + kernel.EnvLevel + `    the kernel level: avx512, avx2 or generic; default: the best that the
                   CPU supports. Levels agree except for rounding. amx, by choice only:
                   products of matrices in the tiles of Intel's AMX.
  ` + kernel.EnvWinograd + `  how convolution algorithms are chosen. auto (default): by a rule on
                   shape and kernel level. off: no Winograd, the most exact results.
                   measure: by timing each algorithm when a network is built, so the
                   choice may differ between machines and between runs.
  ` + par.EnvNUMA + `      where threads run on a machine with several nodes of memory (Linux).
                   auto (default): each but the first keeps to one node, if there are
                   as many as processors. off: the system places them.
  ` + mpi.EnvLibrary + `       the MPI library that tercet train --ranks mpi opens, by name or
                   path; default: Open MPI if it is installed, else MPICH
  TERCET_PAGER     the pager for results longer than the terminal; overrides PAGER
  NO_COLOR         disables colors if set to any value
  CLICOLOR_FORCE   enables colors also without a terminal, if set to any value but 0
  TERM             "dumb" disables colors and pager

The first two change the last bits of results; the manifest of a run
and the JSON of tercet bench record them.

With --task auto/n, the task index comes from one of these variables:

` + indices(),
	}
}

// newTerminal is the help topic on flags that all commands have and few people need.
func newTerminal(*base.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "terminal",
		Short: "Verbosity, pager, colors, machine-readable notes, a command when done",
		Long: `Further flags of all commands, which the help of a command does not list:

  -v, --verbose     more notes on stderr: version, kernels and threads, and during
                    training each logged step
  --no-pager        print long results without a pager. By default, results longer than
                    the terminal go to the shell command in TERCET_PAGER, else PAGER, else
                    less. Set it to cat or to nothing for no pager. Output of --json and
                    output that does not go to a terminal is never paged.
  --color WHEN      color words in results, such as the status of a run: auto (on a
                    terminal), always or never. The flag overrides NO_COLOR and
                    CLICOLOR_FORCE. Output of --json is never colored.
  --log-format json print notes and errors on stderr as JSON objects, one per line, with
                    time, level and msg; errors also have exit_code. Results do not change.
  --on-end COMMAND  run a shell command when tercet ends, successfully or not.
                    TERCET_STATUS is the exit code, TERCET_COMMAND the command line. Its
                    output goes to stderr, and it does not change tercet's exit code:
                    tercet train x.yaml --on-end 'notify-send "ended with $TERCET_STATUS"'`,
	}
}

// indices lists the variables of schedulers.
func indices() string {
	var b strings.Builder
	for _, s := range scheduler.Systems {
		fmt.Fprintf(&b, "  %-26s  %s, from %d\n", s.Index, s.Name, s.First)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
