package runs

import (
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "runs",
		Short: "List, compare, lengthen and remove runs",
		Long:  "Lists run directories with their status, progress and scores, shows one of them,\nsays in what two differ, makes a longer run of one, and removes those that are not\nneeded any more.",
		Examples: []base.Example{
			{Why: "all runs, the best first", Line: "tercet runs list runs --sort score"},
			{Why: "in what two runs differ", Line: "tercet runs diff runs/val-width-4 runs/val-width-8"},
		},
		Subs: []*cobra.Command{newList(s), newShow(s), newDiff(s), newExtend(s), newRemove(s), newPrune(s)},
	}.Build()
}
