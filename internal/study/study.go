package study

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/verdict"
	"tercet/studies"
)

// Document is a table of a study over runs, schema tercet.study/1. Scores are fractions
// where their columns are percent.
type Document struct {
	Schema    string       `json:"schema"`
	Table     string       `json:"table"`
	Title     string       `json:"title"`
	Rows      []*Row       `json:"rows"`
	Contrasts []Difference `json:"contrasts,omitempty"`
	Claims    []Quantity   `json:"claims,omitempty"`
	Slopes    []Slope      `json:"slopes,omitempty"`
	Notes     []string     `json:"notes"`

	table *Table
	all   []*Row // before they are reduced
}

// Compare makes a table of runs. Runs that do not count are named in notes.
//
// Errors: those that wrap rundir.ErrRun are of files; others of runs that cannot be one
// table, such as two of one setting with one seed.
func (t *Table) Compare(runs []*rundir.Run) (*Document, error) {
	d := &Document{Schema: record.StudySchema, Table: t.Name, Title: t.Title, Rows: []*Row{}, Notes: []string{}, table: t}
	all, notes, err := t.Read(runs)
	if err != nil {
		return nil, err
	}
	all, more := t.Best.choose(all)
	notes = append(notes, more...)
	rows, err := t.group(all)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		notes = append(notes, t.estimate(row)...)
	}
	notes = append(notes, t.compareAgainst(rows)...)
	d.Notes = append(d.Notes, notes...)
	d.Notes = append(d.Notes, t.caution(rows)...)
	d.all, d.Rows = rows, append(d.Rows, rows...)
	d.Contrasts = t.contrast(rows)
	if t.Reduce != nil && t.Show != "claims" { // which it tells what a curve is
		more, err := d.reduce()
		if err != nil {
			return nil, err
		}
		d.Notes = append(d.Notes, more...)
	}
	if t.Rates != nil {
		d.Notes = append(d.addRates(), d.Notes...)
	}
	if t.Claims != nil {
		d.Notes = append(d.Notes, d.evaluateClaims()...)
	}
	return d, nil
}

// Document is a table whose rows are made elsewhere.
func (t *Table) Document(title string, rows []*Row, notes []string) (*Document, error) {
	if err := t.parseColumns(); err != nil {
		return nil, err
	}
	return &Document{Schema: record.StudySchema, Table: t.Name, Title: title, Rows: rows, Notes: notes, table: t, all: rows}, nil
}

// Layout is the table to print: of everything, for programs, or for people.
func (d *Document) Layout(full bool) *render.Table {
	t := d.table
	out := &render.Table{Title: t.Title}
	chosen := t.Show != "contrasts" && t.Show != "claims" && slices.ContainsFunc(d.Rows, func(r *Row) bool { return rundir.SelectedOn(r.Dirs()) != "" })
	columns := slices.DeleteFunc(slices.Clone(t.columns), d.unused)
	for _, c := range columns {
		out.Columns = append(out.Columns, c.form)
	}
	if chosen {
		out.Columns = append(out.Columns, render.Column{Name: rundir.SelectionColumn})
	}
	put := func(cell func(*column) render.Cell, row *Row, caution string) {
		var cells []render.Cell
		for i := range columns {
			cells = append(cells, cell(&columns[i]))
		}
		if chosen {
			selected := render.Missing()
			if words := rundir.SelectedOn(row.Dirs()); words != "" {
				selected = render.Text(words)
			}
			cells = append(cells, selected)
		}
		out.Rows, out.RowNotes = append(out.Rows, cells), append(out.RowNotes, caution)
	}
	switch t.Show {
	case "claims":
		for i := range d.Claims {
			put(func(c *column) render.Cell { return d.Claims[i].cell(c) }, nil, "")
		}
	default:
		if t.Show != "contrasts" {
			for _, row := range d.Rows {
				put(func(c *column) render.Cell { return t.rowCell(c, row) }, row, row.Caution)
			}
		}
		for i := range d.Contrasts {
			put(func(c *column) render.Cell { return t.differenceCell(c, &d.Contrasts[i]) }, &Row{}, "")
		}
	}
	out.Notes = append(slices.Clone(d.Notes), t.Notes...)
	if d.pairedByQuery() {
		out.Notes = append(out.Notes, byQuery)
	}
	n, few := d.comparisons()
	if n > 0 {
		out.Notes = append(out.Notes, verdict.Comparisons(n))
	}
	if few > 0 {
		out.Notes = append(out.Notes, verdict.TooFewSeeds)
	}
	if !full && t.Short {
		out.DropConstant("n", "noise", "peak", "parameters", "rate", "name", "verdict")
	}
	return out
}

// unused says that a column is shown only where a row has its score, which none has.
func (d *Document) unused(c column) bool {
	return c.ifAny && !slices.ContainsFunc(d.Rows, func(r *Row) bool { _, ok := r.Scores[c.what]; return ok })
}

// comparisons counts the intervals that a claim was compared with, and the differences of
// too few seeds for a verdict.
func (d *Document) comparisons() (n, few int) {
	for _, c := range d.Claims {
		if c.Rule == "" {
			continue
		}
		if c.deciding() != nil {
			n++
		} else if c.CI95 != nil {
			few++
		}
	}
	of := func(scores map[string]Estimate) {
		for _, e := range scores {
			if e.deciding() != nil {
				n++
			} else {
				few++
			}
		}
	}
	for _, c := range d.Contrasts {
		of(c.Scores)
	}
	for _, row := range d.Rows {
		of(row.Differences)
		switch {
		case d.table.Show == "claims" || row.Fields[verdictField] == "":
		case row.N < verdict.EnoughSeeds:
			few++
		default:
			n++
		}
	}
	return n, few
}

// Draws says whether the table has a picture.
func (t *Table) Draws() bool { return t.Plot != nil }

// Draw writes the table's pictures, base-NAME.png and .svg, and returns the PNG files.
func (d *Document) Draw(base string) ([]string, error) {
	if !d.table.Draws() {
		return nil, fmt.Errorf("table %s has no picture", d.Table)
	}
	return d.table.Plot.draw(d, pictureBase(base))
}

// pictureBase takes the ending of a picture off a path.
func pictureBase(path string) string {
	if e := filepath.Ext(path); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		return strings.TrimSuffix(path, e)
	}
	return path
}

// BuiltIn are the studies that the binary holds. That they can be read is tested. The
// caller must not change them: a study is read once.
func BuiltIn() []*Spec { return builtInWith("") }

// builtIns are functions that give a study by its name.
var builtIns sync.Map

// builtInWith are the studies in whose text a word stands. Only these are read.
func builtInWith(word string) []*Spec {
	var out []*Spec
	for _, name := range studies.All.Names() {
		text, file, _ := studies.All.Read(name)
		if !bytes.Contains(text, []byte(word)) {
			continue
		}
		read, _ := builtIns.LoadOrStore(name, sync.OnceValues(func() (*Spec, error) { return Read(text, file, name) }))
		if spec, err := read.(func() (*Spec, error))(); err == nil {
			out = append(out, spec)
		}
	}
	return out
}

// BuiltInTable finds a table in the built-in studies; nil where there is none.
func BuiltInTable(name string) *Table {
	for _, spec := range builtInWith(name) {
		if t := spec.Table(name); t != nil {
			return t
		}
	}
	return nil
}

// BuiltInTables lists the names of the tables of built-in studies for which keep returns
// true.
func BuiltInTables(keep func(*Table) bool) []string {
	var out []string
	for _, spec := range BuiltIn() {
		for i := range spec.Tables {
			if keep(&spec.Tables[i]) {
				out = append(out, spec.Tables[i].Name)
			}
		}
	}
	return out
}
