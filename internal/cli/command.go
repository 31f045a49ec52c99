package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// command describes one command; build makes cobra's form of it, so that all
// have the same help: what it does, examples, usage, flags, exit status.
type command struct {
	use      string // "name ARGS"
	short    string
	long     string
	examples []example
	exits    []int // codes beside done, failed and usage
	args     cobra.PositionalArgs
	flags    func(cmd *cobra.Command)
	subs     []*cobra.Command
	// run gets neither cobra nor flags: they are in the command's options.
	run func(ctx context.Context, args []string) error
	// anyKernel lets it run although TERCET_KERNEL asks for what is not there.
	anyKernel bool
}

// example is a command line of a command's help; a test runs each.
type example struct {
	why  string
	line string // begins with "tercet"; "> FILE" at the end is allowed
	// heavy examples are run with --dry-run.
	heavy bool
}

// exampleKey and the others name annotations of cobra commands.
const (
	exitsKey     = "exits"
	anyKernelKey = "any-kernel"
	heavyKey     = "heavy:"  // followed by the line
	startedKey   = "started" // flags and arguments were right
)

func (c command) build() *cobra.Command {
	cmd := &cobra.Command{
		Use:         c.use,
		Short:       c.short,
		Long:        strings.TrimSpace(c.long),
		Annotations: map[string]string{},
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if c.args == nil && len(args) > 0 {
			return strayArguments(cmd, args)
		}
		if c.args == nil {
			return nil
		}
		var exit *ExitError
		err := c.args(cmd, args)
		if errors.As(err, &exit) {
			return err
		}
		if err != nil {
			return usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
	if c.anyKernel {
		cmd.Annotations[anyKernelKey] = "yes"
	}
	var lines []string
	for _, e := range c.examples {
		lines = append(lines, "  # "+e.why, "  "+e.line)
		if e.heavy {
			cmd.Annotations[heavyKey+e.line] = "yes"
		}
	}
	cmd.Example = strings.Join(lines, "\n")
	if c.run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			cmd.Annotations[startedKey] = "yes"
			return c.run(cmd.Context(), args)
		}
	} else {
		// A command that only holds others: name them rather than do nothing.
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return missingSub(cmd, args) }
	}
	if c.flags != nil {
		c.flags(cmd)
	}
	completeConfigs(cmd)
	var gates []string
	for _, g := range gateFlags {
		if cmd.Flags().Lookup(strings.TrimPrefix(g, "--")) != nil {
			gates = append(gates, g)
		}
	}
	cmd.Annotations[exitsKey] = exitStatus(c.exits, gates)
	cmd.AddCommand(c.subs...)
	return cmd
}

func missingSub(cmd *cobra.Command, args []string) error {
	var subs []string
	for _, s := range cmd.Commands() {
		if s.IsAvailableCommand() {
			subs = append(subs, s.Name())
		}
	}
	list := strings.Join(subs, ", ")
	if len(args) == 0 {
		return usagef("%s needs one of: %s", cmd.Name(), list)
	}
	if cmd.HasParent() {
		return usagef("%s has no command %q; %sit has: %s", cmd.Name(), args[0], didYouMean(args[0], subs), list)
	}
	mean := didYouMean(args[0], subs)
	if below := commandBelow(cmd, args[0]); below != "" {
		mean = "did you mean " + below + "? "
	}
	return usagef("there is no command %q; %scommands: %s", args[0], mean, list)
}

// otherNames are words that users try as commands, with what does it.
var otherNames = map[string]string{
	"embed": "tercet eval --save-embeddings FILE.npy", "export": "tercet eval --save-embeddings FILE.npy",
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
