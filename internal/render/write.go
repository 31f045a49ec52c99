package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	pretty "github.com/jedib0t/go-pretty/v6/text"

	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/text"
)

// Formats lists what Write understands.
func Formats() []string { return []string{"text", "markdown", "latex", "csv", "json"} }

// CheckFormat returns the error that Write would give for an unknown format, so
// that a command can refuse it before it works.
func CheckFormat(format string) error {
	for _, f := range Formats() {
		if f == format {
			return nil
		}
	}
	return fmt.Errorf("unknown table format %q; valid are %s", format, strings.Join(Formats(), ", "))
}

// Write renders the table as text, markdown, latex, csv or json. Text, Markdown and
// LaTeX are rounded for people; CSV and JSON carry full precision, fractions as they
// are, and intervals apart from the value.
func (t *Table) Write(w io.Writer, format string) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	switch format {
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w)
	case "latex":
		_, err := io.WriteString(w, t.latex())
		return err
	}
	_, err := io.WriteString(w, t.pretty(format == "markdown"))
	return err
}

func (t *Table) check() error {
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Title, i, len(r), len(t.Columns))
		}
	}
	if t.RowNotes != nil && len(t.RowNotes) != len(t.Rows) {
		return fmt.Errorf("table %q: %d notes on %d rows", t.Title, len(t.RowNotes), len(t.Rows))
	}
	return nil
}

// pretty renders for people.
func (t *Table) pretty(markdown bool) string {
	literal := text.Visible
	if markdown {
		literal = func(s string) string { return italic.Replace(escape(s)) }
	}
	p := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header = pretty.FormatDefault
	p.SetStyle(style)
	header := make(table.Row, len(t.Columns))
	configs := make([]table.ColumnConfig, len(t.Columns))
	for i, c := range t.Columns {
		header[i] = literal(c.header())
		align := pretty.AlignLeft
		if c.numeric(t.Rows, i) {
			align = pretty.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	p.SetColumnConfigs(configs)
	p.AppendHeader(header)
	for _, r := range t.Rows {
		row := make(table.Row, len(r))
		for i, x := range r {
			row[i] = literal(t.Columns[i].Show(x))
			if markdown && x.best {
				row[i] = fmt.Sprintf("**%s**", row[i])
			}
		}
		p.AppendRow(row)
	}
	var b strings.Builder
	if markdown {
		if t.Title != "" {
			b.WriteString("**" + escape(t.Title) + "**\n\n")
		}
		b.WriteString(p.RenderMarkdown() + "\n")
		for _, n := range t.Notes {
			b.WriteString("\n" + escape(n) + "\n")
		}
		return b.String()
	}
	if t.Title != "" {
		b.WriteString(text.Visible(t.Title) + "\n")
	}
	b.WriteString(p.Render() + "\n")
	for _, n := range t.Notes {
		for line := range strings.SplitSeq(n, "\n") {
			b.WriteString(text.Visible(line) + "\n")
		}
	}
	return b.String()
}

// csv writes RFC 4180: go-pretty's own CSV escapes quotes in another way. A
// column with intervals becomes three: name, name_low, name_high. One with a number that
// is of fewer values than its row has runs has name_n behind it, and where there is
// something to say of a row, the last column is notes.
func (t *Table) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	wide, told := make([]bool, len(t.Columns)), make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		header = append(header, c.Name)
		for _, r := range t.Rows {
			wide[i] = wide[i] || r[i].kind == interval
			told[i] = told[i] || r[i].odd
		}
		if wide[i] {
			header = append(header, c.Name+"_low", c.Name+"_high")
		}
		if told[i] {
			header = append(header, c.Name+"_n")
		}
	}
	noted := slices.ContainsFunc(t.RowNotes, func(n string) bool { return n != "" })
	if noted {
		header = append(header, "notes")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for at, r := range t.Rows {
		var line []string
		for i, x := range r {
			low, high := "", ""
			switch x.kind {
			case missing:
				line = append(line, "")
			case integer:
				line = append(line, strconv.Itoa(x.n))
			case interval:
				low, high = exact(x.low), exact(x.high)
				line = append(line, exact(x.value))
			case number, single:
				line = append(line, exact(x.value))
			default:
				line = append(line, x.text)
			}
			if wide[i] {
				line = append(line, low, high)
			}
			if told[i] && x.of > 0 {
				line = append(line, strconv.Itoa(x.of))
			} else if told[i] {
				line = append(line, "")
			}
		}
		if noted {
			line = append(line, t.RowNotes[at])
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// measured is a number in JSON. What is not finite is null, since JSON has no
// such numbers.
type measured struct {
	Value *float64    `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
	N     int         `json:"n,omitempty"`
}

// json writes {"schema": record.TableSchema, "title", "columns", "rows", "notes"};
// a row is an object in the order of the columns.
func (t *Table) json(w io.Writer) error {
	names := make([]string, len(t.Columns))
	seen := map[string]bool{}
	for i, c := range t.Columns {
		if seen[c.Name] {
			return fmt.Errorf("table %q: two columns are named %q, which JSON cannot hold", t.Title, c.Name)
		}
		seen[c.Name], names[i] = true, c.Name
	}
	rows := make([]json.RawMessage, len(t.Rows))
	for i, r := range t.Rows {
		var b strings.Builder
		b.WriteByte('{')
		for j, x := range r {
			k, err := json.Marshal(names[j])
			if err != nil {
				return err
			}
			v, err := json.Marshal(x.plain())
			if err != nil {
				return fmt.Errorf("table %q, row %d, column %q: %w", t.Title, i, names[j], err)
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.Write(k)
			b.WriteByte(':')
			b.Write(v)
		}
		b.WriteByte('}')
		rows[i] = json.RawMessage(b.String())
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(printed.Table{Schema: record.TableSchema, Title: t.Title, Columns: names, Rows: rows, Notes: t.Notes})
}

// plain is the cell as a value for JSON.
func (x Cell) plain() any {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch x.kind {
	case missing:
		return nil
	case words:
		return x.text
	case integer:
		return x.n
	}
	m := measured{}
	if finite(x.value) {
		m.Value = &x.value
	}
	if x.kind == interval && finite(x.low) && finite(x.high) {
		m.CI95 = &[2]float64{x.low, x.high}
	}
	switch {
	case x.kind == single:
		m.N = 1
	case x.odd:
		m.N = x.of
	}
	return m
}

// italic lets the words of lost runs be the emphasis that they are in papers.
var italic = strings.NewReplacer(`\*collapse\*`, "*collapse*", `\*diverged\*`, "*diverged*")

// escape keeps words from being read as Markdown or HTML markup.
func escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "<", "&lt;", "*", "\\*", "`", "\\`", "\n", " ").Replace(s)
}
