package study

import (
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/lists"
	"tercet/internal/study"
)

// completing gives a command whose first argument is a study its completion: names of
// built-in studies, or files; then what rest gives for the study.
func completing(cmd *cobra.Command, rest cobra.CompletionFunc) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return rest(cmd, args, word)
		}
		return base.Begins(lists.Map(study.BuiltIn(), func(s *study.Spec) string { return s.Name }), word), cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// completeSteps proposes steps of the study args[0] that are not on the line.
func completeSteps(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	spec, err := ReadSpec(args[0])
	if err != nil { // of a word that is not finished
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	steps := lists.Filter(spec.StepNames(), func(name string) bool { return !slices.Contains(args[1:], name) })
	return base.Begins(steps, word), cobra.ShellCompDirectiveNoFileComp
}

// completeNothing proposes nothing.
func completeNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
