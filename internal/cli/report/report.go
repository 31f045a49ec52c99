package report

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tercet/configs/tables"
	"tercet/internal/cli/base"
	"tercet/internal/names"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type options struct {
	runs       []string
	metrics    []string
	groupBy    []string
	out        string
	noPictures bool
	table      string
	variant    string
	grid       []string
	curves     string
	format     string
	split      string
	checkpoint string
	selectRuns string
	by         string
	perRun     bool
	columns    []string
	bold       bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "report [RUN...]",
		Paged: true,
		Short: "Tabulate results of runs: mean and interval over seeds; write a page with pictures",
		Long: `
Prints one table of runs, from the results of train, eval, attack and cluster in their
directories. Runs that differ only in the seed share a row: the mean and its 95 %
interval by Student's t. The baselines, raw pixels and the untrained network, follow
below. Notes list caveats: missing results, collapsed runs, results older than the
checkpoint, attacks with different settings.

By default, scores are those on test images with the last checkpoint. --split and
--checkpoint select others; columns and a note label them in every format. A result file
whose images or weights do not match its name is skipped, with a note.

--select best --by validation:recall@1 ranks the configurations by their mean over seeds
on validation images (with --per-run it ranks runs). The best one is printed with its
scores on test images. A configuration is not ranked if one of its runs lacks the score.
It is an error if candidates were evaluated on different images. If the choice used test
images, a note and a column say so.

--page also writes a page with the scores and pictures of each run and how they were
measured (with --select, of the selected runs). The HTML page adds training curves and
the settings that differ; its tables can be sorted. It works offline.

--table compares the runs with a paper's reported numbers, in the paper's rows and
columns. Each run goes to the row whose config keys it matches. Tables:
` + text.Wrap(strings.Join(tables.All.Names(), ", ")+"; tab7 to tab11 by their number; or a YAML file such as configs/tables/u.yaml.", 88, "") + `NAME can also be a table of a built-in study, such as clustering, double-descent,
noise-robust and manipulation; these also have claims with verdicts. tercet study list
NAME prints the tables of a study. Other tables: worst-band (worst cases and certificates
as a function of the budget), stability (measured stability of metrics, with the bounds)
and stability-checks (its verdicts). --curves draws the tables that have a plot.`,
		Examples: []base.Example{
			{Why: "one run, with a page in its directory", Line: "tercet report --runs runs/first --page runs/first/report.md"},
			{Why: "all runs as CSV, with chosen scores; others: ES:R(published), cluster:nmi, wcR@1(prototype), certR@1", Line: "tercet report --runs 'runs/*' --metric recall@1,map@r --format csv"},
			{Why: "our results and the paper's, in its 5 x 5 grid of source and destination hardness", Line: "tercet report --table hm-grid --runs 'runs/*'"},
			{Why: "losses and methods of clustering under label noise, with curves", Line: "tercet report --table clustering --curves curves 'runs/*'"},
			{Why: "double descent as a function of network width, as a picture and as CSV", Line: "tercet report --table double-descent --curves dd --format csv 'runs/dd-*'"},
			{Why: "the claims about double descent, with seed-by-seed differences", Line: "tercet report --table pair-claims 'runs/dd-*'"},
			{Why: "measured stability of metrics and the bounds, as pictures and in Markdown", Line: "tercet report --table stability --curves stability --format markdown runs/stability-*"},
			{Why: "the generalization gap of networks against the number of training images", Line: "tercet report --table gap 'runs/*'"},
			{Why: "sensitivity of networks to one training image, against the number of images", Line: "tercet report --table network-stability 'runs/*'"},
			{Why: "the configuration that is best on validation images, with its test scores", Line: "tercet report --select best --by validation:recall@1 'runs/val-*'"},
			{Why: "for a paper: three columns, the best value in bold", Line: "tercet report --columns run,n,recall@1 --bold --format latex runs"},
			{Why: "mean over all runs of a loss", Line: "tercet report --runs runs --group-by loss,loss.margin"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringArrayVarP(&o.runs, "runs", "r", nil, "run `DIRECTORY`, folder of run directories, or glob (repeatable); the same as the arguments")
			base.AddSplit(fs, &o.split, "test", "images: test, validation or train; scores on images other than test are labeled")
			fs.StringVar(&o.checkpoint, "checkpoint", "last", "weights: last, best or step-N")
			fs.StringSliceVar(&o.groupBy, "group-by", nil, "config keys that the runs of a row have in common, such as model,loss.margin; default: all but name and seed")
			fs.BoolVar(&o.perRun, "per-run", false, "one row per run (with --select: one candidate per run), even if runs differ only in the seed")
			base.Group(fs, "Runs")
			fs.StringVar(&o.selectRuns, "select", "", "best: rank the configurations by --by, and show the scores of the best one on --split")
			fs.StringVar(&o.by, "by", "", "with --select, `SPLIT:SCORE` such as validation:recall@1")
			base.Group(fs, "Selection")
			fs.StringSliceVar(&o.metrics, "metric", nil, "scores to show, such as recall@1,map@r,nmi,ES:R; default: the usual scores that are available")
			fs.StringSliceVar(&o.columns, "columns", nil, "columns to print, by heading: `LIST` such as run,n,recall@1")
			fs.BoolVar(&o.bold, "bold", false, "print the best value of each score in bold (LaTeX and Markdown)")
			base.Group(fs, "Columns")
			fs.StringVar(&o.table, "table", "", "print the table `NAME` (listed above), or that of a YAML file: runs and a paper's reported numbers, or the table of a study")
			fs.StringVar(&o.variant, "variant", "published", "with --table, variant of attack scores: published (as the paper's code computes them), fixed or both")
			fs.StringSliceVar(&o.grid, "grid", nil, "with --table hm-grid, print a grid of source and destination with these scores in each cell, such as R@1,ERS")
			fs.StringVar(&o.curves, "curves", "", "with a --table that has a plot, such as clustering or double-descent, draw it to `BASE`-DATA.png and .svg")
			base.Group(fs, "Papers and studies")
			base.AddFormat(fs, &o.format)
			fs.StringVarP(&o.out, "page", "o", "", "also write a page: `FILE`.md (with links to pictures) or FILE.html (with embedded pictures)")
			fs.BoolVar(&o.noPictures, "no-pictures", false, "write the page without pictures")
			base.Group(fs, "Output")
			base.OldNames(fs, "out", "page")
		},
		Run: func(_ context.Context, args []string) error {
			o.runs = append(o.runs, args...)
			return runReport(s, o)
		},
	}.Build()
}

func runReport(s *base.Streams, o options) error {
	if len(o.runs) == 0 && o.table == "" {
		return base.Usagef("name what to report on: --runs DIRECTORY, or a glob of directories in quotes")
	}
	if o.noPictures && o.out == "" {
		return base.Usagef("--no-pictures is for --page, which is not given")
	}
	if err := o.checkOf(); err != nil {
		return err
	}
	var own *study.Table
	if o.table != "" {
		own = study.BuiltInTable(o.table)
	}
	switch {
	case own != nil:
		if err := ownTable(o); err != nil {
			return err
		}
		runs, err := ReadTableRuns(s, o.runs)
		if err != nil {
			return err
		}
		return PrintTable(s, own, runs, o.format, o.curves, true)
	case o.table == StabilityTable || o.table == StabilityChecks:
		return runStabilityTable(s, o)
	case o.table == BandTable:
		return runBandTable(s, o)
	case o.curves != "":
		return base.Usagef("--curves needs --table %s", strings.Join(drawnTables(), ", "))
	case o.table != "":
		return runPaperTable(s, o)
	case o.variant != "published" || len(o.grid) > 0:
		return base.Usagef("--variant and --grid need --table; --metric chooses scores here, such as ES:R or ES:R(published)")
	}
	if o.selectRuns != "" || o.by != "" {
		return runSelection(s, o)
	}
	write, err := pageWriter(o.out)
	if err != nil {
		return err
	}
	runs, err := ReadRuns(s, o.runs, o.of())
	if err != nil {
		return err
	}
	sum, err := summary.Summarize(runs, summary.Options{Metrics: o.metrics, GroupBy: o.groupBy, PerRun: o.perRun})
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	table, err := o.shape(sum.Table())
	if err != nil {
		return err
	}
	if write != nil {
		if err := writePage(s, write, func(pictures bool) *render.Page { return summary.RunPage(sum, runs, pictures) }, runs, o); err != nil {
			return err
		}
	}
	return s.Result(sum, func(w io.Writer) error { return table.Write(w, o.format) })
}

// of says of which images and weights scores are.
func (o options) of() rundir.Of { return rundir.Of{Split: o.split, Checkpoint: o.checkpoint} }

// shape chooses columns and marks the best values as the flags say.
func (o options) shape(t *render.Table) (*render.Table, error) {
	if o.bold {
		t.MarkBest()
	}
	if len(o.columns) > 0 {
		if err := t.Choose(o.columns, summary.LabelColumns()...); err != nil {
			return nil, base.Usagef("--columns: %w", err)
		}
	}
	return t, nil
}

// checkOf refuses images and weights that there are not, and those flags with --table.
func (o options) checkOf() error {
	if err := base.CheckSplit(o.split, o.checkpoint); err != nil {
		return err
	}
	if o.table == "" {
		return nil
	}
	if !(o.split == names.Test && o.checkpoint == names.Last) {
		return base.Usagef("--table is of test images and the last checkpoint: leave out --split and --checkpoint")
	}
	if o.selectRuns != "" || o.by != "" || o.perRun || o.columns != nil || o.bold {
		return base.Usagef("--select, --by, --per-run, --columns and --bold go without --table")
	}
	return nil
}
