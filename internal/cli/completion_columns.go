package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/names"
	"tercet/internal/summary"
)

// completeColumns proposes headings of the table that the line's other flags ask for:
// scores that it does not show would be refused.
func completeColumns(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	fs := cmd.Flags()
	metrics, err := fs.GetStringSlice("metric")
	if err != nil || len(metrics) == 0 {
		metrics = summary.UsualScores()
	}
	columns, before := []string{"run", "n", "status"}, ""
	if fs.Changed("select") {
		if split, err := fs.GetString("split"); err == nil {
			before = split + ":"
		}
		if by, err := fs.GetString("by"); err == nil && by != "" {
			columns = append(columns, by)
		}
	}
	for _, m := range metrics {
		if name := before + names.Score(m); !slices.Contains(columns, name) { // a shell's line may be parsed twice
			columns = append(columns, name)
		}
	}
	return list(func() []string { return columns })(cmd, args, word)
}
