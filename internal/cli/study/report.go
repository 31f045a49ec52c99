package study

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
)

type reportOptions struct {
	runs   []string
	table  string
	format string
	curves string
}

func newReport(s *base.Streams) *cobra.Command {
	var o reportOptions
	return completing(base.Command{
		Use:   "report SPEC [RUN...]",
		Paged: true,
		Short: "Print the tables of a study",
		Long: `
Prints the tables of a study: SPEC is the name of a built-in study or a YAML file.
Rows are means over seeds with 95 % intervals by Student's t; differences are paired by
seed. A verdict follows from the whole interval: supported, contradicted or inconclusive.
Notes list the runs that were left out, and why.`,
		Examples: []base.Example{
			{Why: "all tables of the clustering study", Line: "tercet study report clustering 'runs/*'"},
			{Why: "one table as CSV, and its plot", Line: "tercet study report clustering --table clustering --format csv --curves curves 'runs/*'"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringArrayVarP(&o.runs, "runs", "r", nil, "run `DIRECTORY`, folder of run directories, or glob (repeatable); the same as the arguments")
			fs.StringVar(&o.table, "table", "", "print only the table `NAME` of the study")
			base.AddFormat(fs, &o.format)
			fs.StringVar(&o.curves, "curves", "", "also plot the tables to `BASE`-DATA.png and .svg; for several tables, to BASE-TABLE-DATA")
		},
		Run: func(_ context.Context, args []string) error {
			o.runs = append(o.runs, args[1:]...)
			return runReport(s, args[0], o)
		},
	}.Build(), base.CompleteRuns)
}

func runReport(s *base.Streams, choice string, o reportOptions) error {
	spec, err := ReadSpec(choice)
	if err != nil {
		return err
	}
	tables := spec.Names()
	if o.table != "" {
		if spec.Table(o.table) == nil {
			return base.Usagef("study %s has no table %q; %stables: %s", spec.Name, o.table, base.DidYouMean(o.table, tables), strings.Join(tables, ", "))
		}
		tables = []string{o.table}
	}
	if len(o.runs) == 0 {
		return base.Usagef("name the runs to compare: tercet study report %s RUN...", choice)
	}
	if len(tables) > 1 && (s.JSON || o.format == "json" || o.format == "csv") {
		return base.Usagef("study %s has several tables: choose one with --table: %s", spec.Name, strings.Join(tables, ", "))
	}
	runs, err := report.ReadTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	for _, name := range tables {
		base := o.curves
		if base != "" && len(tables) > 1 {
			base += "-" + name
		}
		if err := report.PrintTable(s, spec.Table(name), runs, o.format, base, len(tables) == 1); err != nil {
			return err
		}
	}
	return nil
}
