package report

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/study"
)

// engineTable is a table that compares runs with each other, not with a paper's numbers.
type engineTable struct {
	name string
	// make compares the runs; draw is nil where there is no picture.
	make func(runs []*rundir.Run, full bool) (document any, table *render.Table, draw func(base string) ([]string, error), err error)
}

// engineTables in the order of the help.
var engineTables = []engineTable{
	gapTable,
	networkTable,
}

// drawnTables are the names of those that have a picture.
func drawnTables() []string {
	return append(study.BuiltInTables((*study.Table).Draws), slices.DeleteFunc(EngineNames(), func(name string) bool { return name == "pairs" || name == "pair-claims" })...)
}

// Draws says whether a table has a picture.
func Draws(table string) bool {
	return slices.Contains(append(drawnTables(), StabilityTable), table)
}

func studyTableOf(name string) (engineTable, bool) {
	i := slices.IndexFunc(engineTables, func(t engineTable) bool { return t.name == name })
	if i < 0 {
		return engineTable{}, false
	}
	return engineTables[i], true
}

// EngineNames lists the tables of studies that this package makes.
func EngineNames() []string {
	var out []string
	for _, t := range engineTables {
		out = append(out, t.name)
	}
	return out
}

// ownTable refuses options that a table with its own columns and rows has no use for.
func ownTable(o options) error {
	if len(o.metrics) > 0 || len(o.groupBy) > 0 || o.out != "" || o.variant != "published" || len(o.grid) > 0 {
		return base.Usagef("--table %s has its own columns and rows: leave --metric, --group-by, --page, --variant and --grid out", o.table)
	}
	if len(o.runs) == 0 {
		return base.Usagef("name the runs to compare: tercet report --table %s RUN...", o.table)
	}
	return nil
}

// runStudyTable prints a study and draws its picture.
func runStudyTable(s *base.Streams, t engineTable, o options) error {
	if err := ownTable(o); err != nil {
		return err
	}
	runs, err := ReadTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	document, table, draw, err := t.make(runs, o.format == "csv" || o.format == "json")
	if err != nil {
		if e := RunsError(err); e != err {
			return e
		}
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if o.curves != "" {
		if draw == nil {
			return base.Usagef("--table %s has no picture; those with one are %s", o.table, strings.Join(drawnTables(), ", "))
		}
		if len(table.Rows) == 0 {
			return base.Usagef("--curves: there is nothing to draw: none of the %d runs has a row in table %s; leave --curves out to read why", len(runs), o.table)
		}
		if err := drawTable(s, draw, o.curves); err != nil {
			return err
		}
	}
	return s.Result(document, func(w io.Writer) error { return table.Write(w, o.format) })
}

func drawTable(s *base.Streams, draw func(base string) ([]string, error), base string) error {
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	files, err := draw(base)
	if err != nil {
		return err
	}
	for _, f := range files {
		s.Note("wrote %s", f)
	}
	return nil
}
