package report

import (
	"fmt"
	"io"

	"tercet/internal/cli/base"
	"tercet/internal/rundir"
	"tercet/internal/summary"
)

// runSelection prints the configuration that is best by a score on one split, with its
// scores on another.
func runSelection(s *base.Streams, o options) error {
	switch {
	case o.selectRuns == "":
		return base.Usagef("--by says what --select selects by: give --select best as well")
	case o.selectRuns != "best":
		return base.Usagef("--select is %q; give best", o.selectRuns)
	case o.by == "":
		return base.Usagef("--select needs what it selects by: --by validation:recall@1")
	}
	write, err := pageWriter(o.out)
	if err != nil {
		return err
	}
	split, score, err := summary.ParseBy(o.by)
	if err != nil {
		return base.Usagef("--by: %w", err)
	}
	by, scored, err := o.bothResults(s, split)
	if err != nil {
		return err
	}
	options := summary.Options{Metrics: o.metrics, GroupBy: o.groupBy, PerRun: o.perRun}
	sel, err := summary.Select(by, scored, summary.SelectOptions{Options: options, Split: split, Metric: score})
	if err != nil {
		if code := base.ExitCode(RunsError(err)); code == base.ExitData {
			return &base.ExitError{Code: base.ExitData, Err: err}
		}
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	table, err := o.shape(sel.Table())
	if err != nil {
		return err
	}
	if write != nil {
		if err := writePage(s, write, sel.Page, sel.Runs(), o); err != nil {
			return err
		}
	}
	return s.Result(sel, func(w io.Writer) error { return table.Write(w, o.format) })
}

// bothResults reads the runs with the results that are selected by and with those that
// are shown.
func (o options) bothResults(s *base.Streams, split string) (by, scored []*rundir.Run, err error) {
	of := o.of()
	if scored, err = ReadRuns(s, o.runs, of); err != nil {
		return nil, nil, err
	}
	of.Split = split
	for _, r := range scored { // those that can be read
		b, err := rundir.ReadOf(r.Dir, of)
		if err != nil {
			return nil, nil, RunsError(fmt.Errorf("to select by: %w", err))
		}
		b.Labels = r.Labels
		by = append(by, b)
	}
	return by, scored, nil
}
