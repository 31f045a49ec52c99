package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tercet/configs/tables"
	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/study/published"
)

// runPaperTable prints runs beside the numbers of a paper's table.
func runPaperTable(s *base.Streams, o options) error {
	if len(o.metrics) > 0 || len(o.groupBy) > 0 || o.out != "" {
		return base.Usagef("--table has the paper's columns and rows: leave --metric, --group-by and --page out")
	}
	variants, err := published.Variants(o.variant)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	t, err := PaperTable(o.table)
	if err != nil {
		return err
	}
	var runs []*rundir.Run // without any, the paper's numbers alone
	if len(o.runs) > 0 {
		if runs, err = ReadTableRuns(s, o.runs); err != nil {
			return err
		}
	}
	d, err := t.Compare(runs, variants)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: fmt.Errorf("table %s: %w", t.Name, err)}
	}
	layout := d.Layout(base.Bare(o.format))
	if len(o.grid) > 0 {
		if layout, err = t.Grid(d, o.grid); err != nil {
			return &base.ExitError{Code: base.ExitUsage, Err: err}
		}
	}
	return s.Result(d, func(w io.Writer) error { return layout.Write(w, o.format) })
}

// maxTableFile bounds a table that a user names as a file.
const maxTableFile = 1 << 20

// comparedTables are those that compare runs with each other.
func comparedTables() []string {
	return append(study.BuiltInTables(func(*study.Table) bool { return true }), StabilityTable, StabilityChecks, BandTable)
}

// CheckTable returns the error of a name that tercet report --table does not know.
func CheckTable(choice string) error {
	if slices.Contains(comparedTables(), choice) {
		return nil
	}
	_, err := PaperTable(choice)
	return err
}

// PaperTable finds a table by its name, by another name that it gives itself, or
// as a file.
func PaperTable(choice string) (*published.Table, error) {
	if base.IsConfigFile(choice) {
		text, err := fsx.ReadFile(choice, maxTableFile)
		if err != nil {
			return nil, base.Usagef("--table: %v", err)
		}
		return published.Read(text, choice, strings.TrimSuffix(filepath.Base(choice), filepath.Ext(choice)))
	}
	var also []string
	for _, name := range tables.All.Names() {
		text, file, _ := tables.All.Read(name)
		t, err := published.Read(text, file, name)
		if err != nil {
			return nil, err
		}
		if name == choice || slices.Contains(t.Aliases, choice) {
			return t, nil
		}
		also = append(also, t.Aliases...)
	}
	slices.SortFunc(also, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return nil, base.Usagef("unknown table %q; valid: %s; to compare runs: %s; by number: %s; or a .yaml file",
		choice, strings.Join(tables.All.Names(), ", "), strings.Join(comparedTables(), ", "), strings.Join(also, ", "))
}
