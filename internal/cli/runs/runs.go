package runs

import (
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "runs",
		Short: "List, compare, extend and remove runs",
		Long:  "Lists run directories with their status, progress and scores, shows single runs, compares\ntwo runs, extends a run, and removes runs that are no longer needed.",
		Examples: []base.Example{
			{Why: "all runs, the best first", Line: "tercet runs list runs --sort score"},
			{Why: "how two runs differ", Line: "tercet runs diff runs/val-width-4 runs/val-width-8"},
		},
		Subs: []*cobra.Command{newList(s), newShow(s), newDiff(s), newExtend(s), newRemove(s), newPrune(s)},
	}.Build()
}
