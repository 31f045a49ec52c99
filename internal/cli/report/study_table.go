package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/text"
)

// PrintTable prints a table of a study and draws it to base, if it is given. That it has no
// rows, no picture or nothing to draw is an error where the table is the only one.
func PrintTable(s *base.Streams, t *study.Table, runs []*rundir.Run, format, common string, only bool) error {
	d, err := t.Compare(runs)
	if err != nil {
		if errors.Is(err, rundir.ErrRun) {
			return RunsError(err)
		}
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if common != "" && (only || t.Draws() && len(d.Rows) > 0) {
		if !t.Draws() {
			return base.Usagef("table %s has no picture; those with one are %s", t.Name, strings.Join(study.BuiltInTables((*study.Table).Draws), ", "))
		}
		if len(d.Rows) == 0 {
			return base.Usagef("--curves: there is nothing to draw: none of the %d runs has a row in table %s; leave --curves out to read why", len(runs), t.Name)
		}
		if err := drawTable(s, d.Draw, common); err != nil {
			return err
		}
	}
	if only && len(d.Rows) == 0 {
		lines := append([]string{fmt.Sprintf("table %s has no row of %s", t.Name, text.Plural(len(runs), "run", "runs"))}, d.Notes...)
		return RunsError(fmt.Errorf("%w: %s", rundir.ErrRun, strings.Join(lines, "\n")))
	}
	layout := d.Layout(base.Bare(format))
	return s.Result(d, func(w io.Writer) error {
		if err := layout.Write(w, format); err != nil {
			return err
		}
		if !only {
			_, err = fmt.Fprintln(w)
		}
		return err
	})
}
