package base

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/lists"
)

// Command describes one command; build makes cobra's form of it, so that all
// have the same help: what it does, examples, usage, flags, exit status.
type Command struct {
	Use      string // "name ARGS"
	Short    string
	Long     string
	Examples []Example
	Exits    []int // codes beside done, failed and usage
	Args     cobra.PositionalArgs
	Flags    func(cmd *cobra.Command)
	Subs     []*cobra.Command
	// Run gets neither cobra nor flags: they are in the command's options.
	Run func(ctx context.Context, args []string) error
	// AnyKernel lets it run although TERCET_KERNEL asks for what is not there.
	AnyKernel bool
	// Paged commands only show something: a long result goes through a pager on a terminal.
	Paged bool
}

// Example is a command line of a command's help; a test runs each.
type Example struct {
	Why  string
	Line string // begins with "tercet"; "> FILE" at the end is allowed
	// Heavy examples are run with --dry-run.
	Heavy bool
}

// exampleKey and the others name annotations of cobra commands.
const (
	ExitsKey     = "exits"
	AnyKernelKey = "any-kernel"
	PagedKey     = "paged"
	HeavyKey     = "heavy:"  // followed by the line
	StartedKey   = "started" // flags and arguments were right
)

// Build makes cobra's form of the command.
func (c Command) Build() *cobra.Command {
	cmd := &cobra.Command{
		Use:         c.Use,
		Short:       c.Short,
		Long:        strings.TrimSpace(c.Long),
		Annotations: map[string]string{},
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if c.Args == nil && len(args) > 0 {
			return strayArguments(cmd, args)
		}
		if c.Args == nil {
			return nil
		}
		var exit *ExitError
		err := c.Args(cmd, args)
		if errors.As(err, &exit) {
			return err
		}
		if err != nil {
			return wrongArguments(cmd, args)
		}
		return nil
	}
	if c.AnyKernel {
		cmd.Annotations[AnyKernelKey] = "yes"
	}
	if c.Paged {
		cmd.Annotations[PagedKey] = "yes"
	}
	var lines []string
	for _, e := range c.Examples {
		lines = append(lines, "  # "+e.Why, "  "+e.Line)
		if e.Heavy {
			cmd.Annotations[HeavyKey+e.Line] = "yes"
		}
	}
	cmd.Example = strings.Join(lines, "\n")
	if c.Run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			cmd.Annotations[StartedKey] = "yes"
			return c.Run(cmd.Context(), args)
		}
	} else {
		// A command that only holds others: name them rather than do nothing.
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return MissingSub(cmd, args) }
	}
	if c.Flags != nil {
		c.Flags(cmd)
	}
	if c.Run != nil && len(c.Subs) > 0 { // it runs by itself, too
		const group = "{{.CommandPath}} COMMAND"
		cmd.SetUsageTemplate(strings.Replace(UsageTemplate, group, "{{.UseLine}}\n  "+group, 1))
	}
	completeArguments(cmd)
	gates := lists.Filter(GateFlags, func(g string) bool { return cmd.Flags().Lookup(strings.TrimPrefix(g, "--")) != nil })
	cmd.Annotations[ExitsKey] = ExitStatus(c.Exits, gates)
	cmd.AddCommand(c.Subs...)
	return cmd
}

// MissingSub is the mistake of a command line without one of the commands below cmd, or with another word.
func MissingSub(cmd *cobra.Command, args []string) error {
	var subs []string
	for _, s := range cmd.Commands() {
		if s.IsAvailableCommand() {
			subs = append(subs, s.Name())
		}
	}
	list := strings.Join(subs, ", ")
	if len(args) == 0 {
		return Usagef("%s needs one of: %s", cmd.Name(), list)
	}
	if cmd.HasParent() {
		return Usagef("%s has no command %q; %scommands: %s", cmd.Name(), args[0], DidYouMean(args[0], subs), list)
	}
	mean := DidYouMean(args[0], subs)
	if below := commandBelow(cmd, args[0]); below != "" {
		mean = "did you mean " + below + "? "
	}
	return Usagef("unknown command %q; %scommands: %s", args[0], mean, list)
}

// otherNames are words that users try as commands, with what does it.
var otherNames = map[string]string{
	"test": "tercet eval", "resume": "tercet train --resume RUN",
}

// commandBelow is the command of another command with that name, such as tercet config
// init, or what else does it; "" where nothing does.
func commandBelow(root *cobra.Command, name string) string {
	for _, c := range root.Commands() {
		for _, sub := range c.Commands() {
			if sub.Name() == name {
				return sub.CommandPath()
			}
		}
	}
	return otherNames[name]
}
