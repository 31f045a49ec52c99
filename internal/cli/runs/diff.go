package runs

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/compare"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type diffOptions struct {
	split, checkpoint string
	format            string
	all               bool // scores are printed
}

func newDiff(s *base.Streams) *cobra.Command {
	var o diffOptions
	return base.Command{
		Use:   "diff RUN RUN",
		Paged: true,
		Short: "Compare two runs: config keys and scores",
		Long: `
Prints the config keys whose values differ, and the scores of two runs with their 95 %
intervals and the difference, second minus first. Scores that were measured with different
settings have no difference; a note gives the reason. Other notes list differences in
images, versions and kernel levels. Text and markdown tables have the usual scores that
both runs have; --all-scores adds the others.

If both results store the values of each query (tercet eval --per-query), the difference
has the 95 % interval of a paired bootstrap over queries. It covers the choice of test
images, for these weights only. Without these values only each score has an interval, and
a difference can be significant even if these overlap. tercet compare tests differences,
also over seeds.`,
		Examples: []base.Example{
			{Why: "compare two runs of a sweep", Line: "tercet runs diff runs/val-width-4 runs/val-width-8"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ExactArgs(2),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			base.AddSplit(fs, &o.split, "test", "images: test, validation or train")
			fs.StringVar(&o.checkpoint, "checkpoint", "last", "weights: last, best or step-N")
			fs.BoolVar(&o.all, "all-scores", false, "print every score; by default tables leave out variants and what one run lacks, csv and json do not")
			base.AddFormat(fs, &o.format)
		},
		Run: func(_ context.Context, args []string) error { return diff(s, o, args) },
	}.Build()
}

func diff(s *base.Streams, o diffOptions, args []string) error {
	if err := base.CheckSplit(o.split, o.checkpoint); err != nil {
		return err
	}
	var two [2]*rundir.Run
	for i, arg := range args {
		dir, err := oneRun(arg)
		if err != nil {
			return err
		}
		if two[i], err = report.ReadRun(dir, rundir.Of{Split: o.split, Checkpoint: o.checkpoint}); err != nil {
			return err
		}
	}
	doc := rundir.Difference(two[0], two[1])
	flips := 0
	if s.JSON { // which alone has the p values
		flips = compare.Draws
	}
	if err := overQueries(doc, two, flips); err != nil {
		return report.RunsError(err)
	}
	return s.Result(doc, func(w io.Writer) error {
		for _, t := range []*render.Table{settingTable(doc), scoreTable(doc, o.all || base.Bare(o.format))} {
			if len(t.Rows) == 0 && !base.Bare(o.format) {
				if _, err := fmt.Fprintf(w, "no %s\n", t.Title); err != nil {
					return err
				}
				continue
			}
			if err := t.Write(w, o.format); err != nil {
				return err
			}
		}
		return nil
	})
}

// overQueries adds the intervals of differences, as tercet compare computes them by default,
// with p values unless flips is 0. Errors wrap rundir.ErrRun.
func overQueries(doc *printed.RunDifference, two [2]*rundir.Run, flips int) error {
	var sides []compare.Side
	for _, r := range two {
		result, err := compare.FromRun(r)
		if err != nil {
			return err
		}
		sides = append(sides, compare.Side{Name: r.Dir, Results: []*compare.Result{result}})
	}
	var scores []string
	for _, d := range doc.Scores {
		if d.Difference != nil {
			scores = append(scores, d.Key)
		}
	}
	none := 0
	of := compare.Sides(sides, scores, compare.Options{Resamples: compare.Draws, Flips: flips, Lower: func(string) bool { return false }})
	for _, d := range of.Differences {
		i := slices.IndexFunc(doc.Scores, func(s printed.ScoreDifference) bool { return s.Key == d.Score })
		if doc.Scores[i].Queries = d.Queries; d.Queries == nil {
			none++
		}
	}
	switch {
	case none == 0:
	case none == len(scores):
		doc.Notes = append(doc.Notes, "no intervals of the differences: they need the values of the same queries in both runs, which tercet eval --per-query stores")
	default:
		doc.Notes = append(doc.Notes, "differences without an interval: the results have no values of each query for these scores")
	}
	return nil
}

// oneRun is the run directory that an argument names.
func oneRun(arg string) (string, error) {
	dirs, err := rundir.Find([]string{arg})
	if err != nil {
		return "", report.RunsError(err)
	}
	if len(dirs) != 1 {
		return "", base.Usagef("%s has %d runs; name one, such as %s", arg, len(dirs), dirs[0])
	}
	return dirs[0], nil
}

func settingTable(d *printed.RunDifference) *render.Table {
	t := &render.Table{Title: "config keys that differ", Columns: []render.Column{{Name: "key"}, {Name: d.Runs[0]}, {Name: d.Runs[1]}}}
	cell := func(v *string) render.Cell {
		if v == nil {
			return render.Missing()
		}
		return render.Text(*v)
	}
	for _, p := range d.Config {
		t.Rows = append(t.Rows, []render.Cell{render.Text(p.Key), cell(p.Values[0]), cell(p.Values[1])})
	}
	return t
}

// scoreTable has all scores, or those that people ask for first and both runs have.
func scoreTable(d *printed.RunDifference, all bool) *render.Table {
	t := &render.Table{Title: "scores", Columns: []render.Column{{Name: "score"}, {Name: d.Runs[0]}, {Name: d.Runs[1]}, {Name: "difference"}}}
	var both []string
	alone := [2]int{} // scores that only one run has
	for _, p := range d.Scores {
		switch {
		case p.Values[1] == nil:
			alone[0]++
		case p.Values[0] == nil:
			alone[1]++
		default:
			both = append(both, p.Key)
		}
	}
	short := summary.Headlines(both)
	for _, p := range d.Scores {
		if !all && !slices.Contains(short, p.Key) {
			continue
		}
		by := render.Missing()
		if p.Difference != nil {
			v := record.Value{Value: *p.Difference}
			if p.Queries != nil {
				v.CI95 = &p.Queries.CI95
			}
			by = summary.Measured(v)
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(p.Key), scoreCell(p.Values[0]), scoreCell(p.Values[1]), by})
		if p.Unlike != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s was measured with different settings: %s", p.Key, p.Unlike))
		}
	}
	t.Notes = append(t.Notes, d.Notes...)
	if all {
		return t
	}
	if left := len(both) - len(short); left > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s of both runs: --all-scores", text.Plural(left, "more score", "more scores")))
	}
	for i, n := range alone {
		if n > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s of %s alone: --all-scores", text.Plural(n, "score", "scores"), d.Runs[i]))
		}
	}
	return t
}
