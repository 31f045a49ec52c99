package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/study"
	"tercet/studies"
)

// NewStudy makes the command of studies.
func NewStudy(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "study",
		Short: "Studies: many runs, made and compared as a file describes",
		Long: `
A study is a YAML file: the runs that it needs, with the commands after each, and
tables of rows, contrasts and claims over them. docs/studies.md says how to write one.`,
		Examples: []base.Example{
			{Why: "the studies that are built in", Line: "tercet study list"},
			{Why: "which runs a study would make, without making them", Line: "tercet study run clustering --dry-run"},
			{Why: "the tables of a study over its runs", Line: "tercet study report clustering 'runs/*'"},
		},
		Exits: []int{base.ExitData},
		Subs:  []*cobra.Command{newStudyList(s), newStudyRun(s), newStudyReport(s)},
	}.Build()
}

func newStudyList(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "list",
		Short: "List the built-in studies and their steps",
		Long: `
Prints the studies that the binary has built in: name, title, and the steps that
tercet study run can make alone. With --json their tables too.`,
		Examples: []base.Example{
			{Why: "every study with its steps", Line: "tercet study list"},
		},
		Run: func(context.Context, []string) error { return runStudyList(s) },
	}.Build()
}

// studyEntry is a study in the list.
type studyEntry struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	About  string   `json:"about"`
	Steps  []string `json:"steps"`
	Tables []string `json:"tables"`
}

func runStudyList(s *base.Streams) error {
	list := []studyEntry{}
	table := &render.Table{Columns: []render.Column{{Name: "study"}, {Name: "about"}, {Name: "steps"}}}
	for _, spec := range builtIn() {
		list = append(list, studyEntry{spec.Name, spec.Title, spec.About, spec.StepNames(), spec.Names()})
		table.Rows = append(table.Rows, []render.Cell{render.Text(spec.Name), render.Text(spec.Title), render.Text(strings.Join(spec.StepNames(), ", "))})
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

func newStudyReport(s *base.Streams) *cobra.Command {
	var o studyReportOptions
	return base.Command{
		Use:   "report SPEC [RUN...]",
		Short: "The tables of a study over runs",
		Long: `
Prints the tables of a study: SPEC is the name of a built-in study or a YAML file.
Rows are means over seeds with 95 % intervals by Student's t; differences are taken
seed by seed; a verdict is supported, contradicted or inconclusive by the whole
interval. Notes name the runs that do not count, and why.`,
		Examples: []base.Example{
			{Why: "all tables of the clustering study", Line: "tercet study report clustering 'runs/*'"},
			{Why: "one table as CSV, with its picture", Line: "tercet study report clustering --table clustering --format csv --curves curves 'runs/*'"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.MinimumNArgs(1),
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringArrayVarP(&o.runs, "runs", "r", nil, "run `DIRECTORY`, folder of run directories, or glob (repeatable); as the arguments")
			fs.StringVar(&o.table, "table", "", "one table of the study: `NAME`")
			fs.StringVar(&o.format, "format", "text", "table format: "+strings.Join(render.Formats(), ", "))
			fs.StringVar(&o.curves, "curves", "", "draw the tables: `BASE`-DATA.png and .svg, of several tables BASE-TABLE-DATA")
		},
		Run: func(_ context.Context, args []string) error {
			o.runs = append(o.runs, args[1:]...)
			return runStudyReport(s, args[0], o)
		},
	}.Build()
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

// StudyTable finds a table in the built-in studies.
func StudyTable(name string) *study.Table {
	for _, spec := range builtIn() {
		if t := spec.Table(name); t != nil {
			return t
		}
	}
	return nil
}

// StudyTables are the names of the tables in the built-in studies.
func StudyTables(keep func(*study.Table) bool) []string {
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
			return nil, base.Usagef("the study: %v", err)
		}
		return study.Read(text, choice, strings.TrimSuffix(filepath.Base(choice), ext))
	}
	text, file, ok := studies.Read(choice)
	if !ok {
		return nil, base.Usagef("there is no study %q; %sthere are %s; or name a .yaml file", choice, base.DidYouMean(choice, studies.Names()), strings.Join(studies.Names(), ", "))
	}
	return study.Read(text, file, choice)
}

func runStudyReport(s *base.Streams, choice string, o studyReportOptions) error {
	if err := render.CheckFormat(o.format); err != nil {
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	spec, err := studySpec(choice)
	if err != nil {
		return err
	}
	tables := spec.Names()
	if o.table != "" {
		if spec.Table(o.table) == nil {
			return base.Usagef("study %s has no table %q; %sit has %s", spec.Name, o.table, base.DidYouMean(o.table, tables), strings.Join(tables, ", "))
		}
		tables = []string{o.table}
	}
	if len(o.runs) == 0 {
		return base.Usagef("name the runs to compare: tercet study report %s RUN...", choice)
	}
	if len(tables) > 1 && (s.JSON || o.format == "json" || o.format == "csv") {
		return base.Usagef("study %s has several tables: choose one with --table: %s", spec.Name, strings.Join(tables, ", "))
	}
	runs, err := ReadTableRuns(s, o.runs)
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
func printTable(s *base.Streams, t *study.Table, runs []*report.RunDir, format, common string, only bool) error {
	d, err := t.Compare(runs)
	if err != nil {
		if errors.Is(err, report.ErrRun) {
			return RunsError(err)
		}
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	if common != "" && (only || t.Draws() && len(d.Rows) > 0) {
		if !t.Draws() {
			return base.Usagef("table %s has no picture; those with one are %s", t.Name, strings.Join(StudyTables((*study.Table).Draws), ", "))
		}
		if len(d.Rows) == 0 {
			return base.Usagef("--curves: there is nothing to draw: none of the %d runs has a row in table %s; leave --curves out to read why", len(runs), t.Name)
		}
		if err := drawStudy(s, d.Draw, common); err != nil {
			return err
		}
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
