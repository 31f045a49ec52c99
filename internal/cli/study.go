package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/study"
	"tercet/studies"
)

func newStudy(s *Streams) *cobra.Command {
	return command{
		use:   "study",
		short: "Studies: many runs, made and compared as a file describes",
		long: `
A study is a YAML file: the runs that it needs, with the commands after each, and
tables of rows, contrasts and claims over them. docs/studies.md says how to write one.`,
		exits: []int{ExitData},
		subs:  []*cobra.Command{newStudyList(s), newStudyReport(s)},
	}.build()
}

func newStudyList(s *Streams) *cobra.Command {
	return command{
		use:   "list",
		short: "The studies that are built in, and their tables",
		examples: []example{
			{"every study with its tables", "tercet study list", false},
		},
		run: func(context.Context, []string) error { return runStudyList(s) },
	}.build()
}

// studyEntry is a study in the list.
type studyEntry struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	About  string   `json:"about"`
	Tables []string `json:"tables"`
}

func runStudyList(s *Streams) error {
	list := []studyEntry{}
	table := &render.Table{Columns: []render.Column{{Name: "study"}, {Name: "about"}, {Name: "tables"}}}
	for _, spec := range builtIn() {
		list = append(list, studyEntry{spec.Name, spec.Title, spec.About, spec.Names()})
		table.Rows = append(table.Rows, []render.Cell{render.Text(spec.Name), render.Text(spec.Title), render.Text(strings.Join(spec.Names(), ", "))})
	}
	doc := struct {
		Schema  string       `json:"schema"`
		Studies []studyEntry `json:"studies"`
	}{record.StudiesSchema, list}
	return s.Result(doc, func(w io.Writer) error { return table.Write(w, "text") })
}

type studyReportOptions struct {
	runs   []string
	table  string
	format string
	curves string
}

func newStudyReport(s *Streams) *cobra.Command {
	var o studyReportOptions
	return command{
		use:   "report SPEC [RUN...]",
		short: "The tables of a study over runs",
		long: `
Prints the tables of a study: SPEC is the name of a built-in study or a YAML file.
Rows are means over seeds with 95 % intervals by Student's t; differences are taken
seed by seed; a verdict is supported, contradicted or inconclusive by the whole
interval. Notes name the runs that do not count, and why.`,
		examples: []example{
			{"all tables of the clustering study", "tercet study report clustering 'runs/*'", false},
			{"one table as CSV, with its picture", "tercet study report clustering --table clustering --format csv --curves curves 'runs/*'", false},
		},
		exits: []int{ExitData},
		args:  cobra.MinimumNArgs(1),
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringArrayVarP(&o.runs, "runs", "r", nil, "run `DIRECTORY`, folder of run directories, or glob (repeatable); as the arguments")
			fs.StringVar(&o.table, "table", "", "one table of the study: `NAME`")
			fs.StringVar(&o.format, "format", "text", "table format: "+strings.Join(render.Formats(), ", "))
			fs.StringVar(&o.curves, "curves", "", "draw the tables: `BASE`-DATA.png and .svg, of several tables BASE-TABLE-DATA")
		},
		run: func(_ context.Context, args []string) error {
			o.runs = append(o.runs, args[1:]...)
			return runStudyReport(s, args[0], o)
		},
	}.build()
}

// builtIn are the studies that the binary knows. That they can be read is tested.
func builtIn() []*study.Spec {
	var out []*study.Spec
	for _, name := range studies.Names() {
		text, file, _ := studies.Read(name)
		if spec, err := study.Read(text, file, name); err == nil {
			out = append(out, spec)
		}
	}
	return out
}

// studyTable finds a table in the built-in studies.
func studyTable(name string) *study.Table {
	for _, spec := range builtIn() {
		if t := spec.Table(name); t != nil {
			return t
		}
	}
	return nil
}

// studyTables are the names of the tables in the built-in studies.
func studyTables(keep func(*study.Table) bool) []string {
	var out []string
	for _, spec := range builtIn() {
		for i := range spec.Tables {
			if keep(&spec.Tables[i]) {
				out = append(out, spec.Tables[i].Name)
			}
		}
	}
	return out
}

// studySpec reads a study by its name or file.
func studySpec(choice string) (*study.Spec, error) {
	if ext := filepath.Ext(choice); ext == ".yaml" || ext == ".yml" {
		text, err := fsx.ReadFile(choice, maxTableFile)
		if err != nil {
			return nil, usagef("the study: %v", err)
		}
		return study.Read(text, choice, strings.TrimSuffix(filepath.Base(choice), ext))
	}
	text, file, ok := studies.Read(choice)
	if !ok {
		return nil, usagef("there is no study %q; %sthere are %s; or name a .yaml file", choice, didYouMean(choice, studies.Names()), strings.Join(studies.Names(), ", "))
	}
	return study.Read(text, file, choice)
}

func runStudyReport(s *Streams, choice string, o studyReportOptions) error {
	if err := render.CheckFormat(o.format); err != nil {
		return &ExitError{ExitUsage, err}
	}
	spec, err := studySpec(choice)
	if err != nil {
		return err
	}
	tables := spec.Names()
	if o.table != "" {
		if spec.Table(o.table) == nil {
			return usagef("study %s has no table %q; %sit has %s", spec.Name, o.table, didYouMean(o.table, tables), strings.Join(tables, ", "))
		}
		tables = []string{o.table}
	}
	if len(o.runs) == 0 {
		return usagef("name the runs to compare: tercet study report %s RUN...", choice)
	}
	if len(tables) > 1 && (s.JSON || o.format == "json" || o.format == "csv") {
		return usagef("study %s has several tables: choose one with --table: %s", spec.Name, strings.Join(tables, ", "))
	}
	runs, err := readTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	for _, name := range tables {
		base := o.curves
		if base != "" && len(tables) > 1 {
			base += "-" + name
		}
		if err := printTable(s, spec.Table(name), runs, o.format, base, len(tables) == 1); err != nil {
			return err
		}
	}
	return nil
}

// printTable prints a table of a study and draws it to base, if it is given. Where the
// table is not the only one, that it has no picture or nothing to draw is no error.
func printTable(s *Streams, t *study.Table, runs []*report.RunDir, format, base string, only bool) error {
	d, err := t.Compare(runs)
	if err != nil {
		if errors.Is(err, report.ErrRun) {
			return reportError(err)
		}
		return &ExitError{ExitUsage, err}
	}
	if base != "" && (only || t.Draws() && len(d.Rows) > 0) {
		if !t.Draws() {
			return usagef("table %s has no picture; those with one are %s", t.Name, strings.Join(studyTables((*study.Table).Draws), ", "))
		}
		if len(d.Rows) == 0 {
			return usagef("--curves: there is nothing to draw: none of the %d runs has a row in table %s; leave --curves out to read why", len(runs), t.Name)
		}
		if err := drawStudy(s, d.Draw, base); err != nil {
			return err
		}
	}
	layout := d.Layout(bare(format))
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
