package base

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Usage writes what cobra calls the usage of a command: its form, commands, flags and exit
// status. It is Go and no template of cobra's: with text/template in the program the linker
// has to keep every exported method of every type.
func Usage(cmd *cobra.Command) error {
	var b strings.Builder
	list := func(title, before string, which func(*cobra.Command) bool) {
		b.WriteString("\n" + title)
		for _, c := range cmd.Commands() {
			if which(c) {
				fmt.Fprintf(&b, "\n  %s%-*s %s", before, c.NamePadding(), c.Name(), c.Short)
			}
		}
		b.WriteString("\n")
	}
	holds := cmd.HasAvailableSubCommands()
	if holds || cmd.Runnable() {
		b.WriteString("Usage:\n")
		if !holds || cmd.Annotations[runsKey] != "" {
			b.WriteString("  " + cmd.UseLine() + "\n")
		}
		if holds {
			b.WriteString("  " + cmd.CommandPath() + " COMMAND\n")
		}
	}
	switch groups := cmd.Groups(); {
	case !holds:
	case len(groups) == 0:
		list("Commands:", "", (*cobra.Command).IsAvailableCommand)
	default:
		for _, g := range groups {
			list(g.Title, "", func(c *cobra.Command) bool { return c.GroupID == g.ID && c.IsAvailableCommand() })
		}
	}
	if cmd.Runnable() {
		for _, g := range FlagGroups(cmd) {
			b.WriteString("\n" + g.Title + ":\n" + strings.TrimRight(g.Flags.FlagUsages(), " \n") + "\n")
		}
	}
	if exits := cmd.Annotations[ExitsKey]; exits != "" {
		b.WriteString("\nEXIT STATUS\n" + strings.TrimRight(exits, " \n") + "\n")
	}
	if cmd.HasHelpSubCommands() {
		list("More help:", "tercet help ", (*cobra.Command).IsAdditionalHelpTopicCommand)
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}
