package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tercet/configs/tables"
	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/fsx"
	"tercet/internal/report"
	"tercet/internal/rundir"
	"tercet/internal/study"
)

// runPaperTable prints runs beside the numbers of a paper's table.
func runPaperTable(s *base.Streams, o options) error {
	if len(o.metrics) > 0 || len(o.groupBy) > 0 || o.out != "" {
		return base.Usagef("--table has the paper's columns and rows: leave --metric, --group-by and --page out")
	}
	variants, err := report.Variants(o.variant)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	name, t, err := paperTable(o.table)
	if err != nil {
		return err
	}
	var runs []*rundir.Run // without any, the paper's numbers alone
	if len(o.runs) > 0 {
		if runs, err = ReadTableRuns(s, o.runs); err != nil {
			return err
		}
	}
	r, err := report.ComparePaper(t, name, runs, variants)
	if err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: fmt.Errorf("table %s: %w", name, err)}
	}
	layout := r.Layout()
	if len(o.grid) > 0 {
		if layout, err = r.Grid(o.grid); err != nil {
			return &base.ExitError{Code: base.ExitUsage, Err: err}
		}
	}
	return s.Result(r, func(w io.Writer) error { return layout.Write(w, o.format) })
}

// maxTableFile bounds a table that a user names as a file.
const maxTableFile = 1 << 20

// paperTable finds a table by its name, by another name that it gives itself, or
// as a file.
func paperTable(choice string) (name string, t *report.PaperTable, err error) {
	if ext := filepath.Ext(choice); ext == ".yaml" || ext == ".yml" {
		text, err := fsx.ReadFile(choice, maxTableFile)
		if err != nil {
			return "", nil, base.Usagef("--table: %v", err)
		}
		t, err := readPaperTable(text, choice)
		return strings.TrimSuffix(filepath.Base(choice), ext), t, err
	}
	var also []string
	for _, name := range tables.Names() {
		text, file, _ := tables.Read(name)
		t, err := readPaperTable(text, file)
		if err != nil {
			return "", nil, err
		}
		if name == choice || slices.Contains(t.Aliases, choice) {
			return name, t, nil
		}
		also = append(also, t.Aliases...)
	}
	slices.SortFunc(also, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return "", nil, base.Usagef("there is no table %q; there are %s, and to compare runs %s, and by number %s; or name a .yaml file",
		choice, strings.Join(tables.Names(), ", "), strings.Join(append(study.BuiltInTables(func(*study.Table) bool { return true }), StabilityTable, StabilityChecks), ", "), strings.Join(also, ", "))
}

// readPaperTable reads a description and checks it: its config keys, too, since a
// key that no config has would match no run, without a word.
func readPaperTable(text []byte, file string) (*report.PaperTable, error) {
	var t report.PaperTable
	if err := config.ReadDocument(text, file, &t); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, &config.Error{File: file, Msg: err.Error()}
	}
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Key] = true
	}
	for i, r := range t.Rows {
		for _, key := range slices.Sorted(maps.Keys(r.Match)) {
			if !known[key] {
				return nil, &config.Error{File: file, Key: fmt.Sprintf("rows[%d].match.%s", i+1, key), Msg: "there is no such config key; `tercet config keys` lists them"}
			}
		}
	}
	return &t, nil
}
