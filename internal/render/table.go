package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"tercet/internal/lists"
)

// Table is what a result looks like before a format is chosen. Write renders it.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell // each as long as Columns
	// RowNotes are what is to be said of each row, in CSV alone, which has no Notes; nil
	// where nothing is.
	RowNotes []string
	Notes    []string // below the table
}

// Column says how its cells are shown.
type Column struct {
	Name    string // heading, and key in JSON and CSV
	Digits  int    // digits after the point; 0 means 3, negative means none
	Percent bool   // text, Markdown and LaTeX show 100 times the value, the heading gets " (%)"
	// Paper shows as papers do: a heading without " (%)", small numbers as 0.0, and
	// an interval, which must be symmetric, as 0.981 ±0.003.
	Paper bool
	// Better is 1 where higher values are better, -1 where lower ones are, 0 where neither.
	Better int
	// Unlike says that the values are not measured alike, such as on different images:
	// none is the best.
	Unlike bool
	Note   string // of the table's notes, the one that explains the column alone
}

// Columns are columns of these names.
func Columns(names ...string) []Column {
	return lists.Map(names, func(name string) Column { return Column{Name: name} })
}

// Cell is a text, a number, a number with an interval, or nothing.
type Cell struct {
	kind      kind
	text      string
	value     float64
	low, high float64
	n         int
	percent   bool
	brief     bool // an interval that text, Markdown and LaTeX leave out
	best      bool // shown in bold by Markdown and LaTeX
	of        int  // how many values the number is the mean of, 0: not told
	odd       bool // these are not as many as the row's runs
}

type kind uint8

const (
	missing kind = iota
	words
	integer
	number
	interval
	single
)

// Missing is an empty cell: there is no such value. It is the zero Cell.
func Missing() Cell { return Cell{} }

// Text is a cell with words.
func Text(s string) Cell { return Cell{kind: words, text: s} }

// Int is a whole number, shown without a point.
func Int(v int) Cell { return Cell{kind: integer, value: float64(v), n: v} }

// Number is a value of which no interval is known.
func Number(v float64) Cell { return Cell{kind: number, value: v} }

// Interval is a value with its 95 % interval, shown as 0.981 [0.978, 0.984].
func Interval(v, low, high float64) Cell {
	return Cell{kind: interval, value: v, low: low, high: high}
}

// Brief is the cell with its interval in CSV and JSON alone, for tables that have no
// room for it.
func (x Cell) Brief() Cell {
	x.brief = true
	return x
}

// Single is the value of one run out of a group of one: it has no interval, and
// says why, as 0.981 (n=1).
func Single(v float64) Cell { return Cell{kind: single, value: v} }

// InPercent is the cell as text and Markdown show it in a column whose rows differ
// in their units: a number as 100 times its value, words with " (%)" behind them.
func (x Cell) InPercent() Cell {
	x.percent = true
	return x
}

// unit makes c and x such that nothing else asks for InPercent.
func (c Column) unit(x Cell) (Column, Cell) {
	if x.percent && x.kind == words {
		x.text += " (%)"
	}
	c.Percent, x.percent = c.Percent || x.percent, false
	return c, x
}

// header is the heading as people read it.
func (c Column) header() string {
	if c.Percent && !c.Paper {
		return c.Name + " (%)"
	}
	return c.Name
}

func (c Column) number(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	digits := c.Digits
	switch {
	case digits < 0:
		digits = 0
	case digits == 0 && c.Percent:
		digits = 1
	case digits == 0:
		digits = 3
	}
	if c.Percent {
		v *= 100
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if c.Paper && strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // what rounds to 0 has no sign
	}
	if math.Abs(v) >= 1e9 || !c.Paper && v != 0 && math.Abs(v) < math.Pow(10, -float64(digits))/2 {
		s = strconv.FormatFloat(v, 'g', 3, 64) // neither a wall of digits nor 0.000
	}
	return s
}

// Counted is the cell of a mean over some values in a row of n runs: where these are not
// as many, it shows their number.
func (x Cell) Counted(values, n int) Cell {
	x.of, x.odd = values, values > 0 && values != n
	return x
}

// Show renders a cell for people.
func (c Column) Show(x Cell) string {
	if x.odd && x.kind != single {
		return c.showAll(x) + fmt.Sprintf(" (n=%d)", x.of)
	}
	return c.showAll(x)
}

func (c Column) showAll(x Cell) string {
	c, x = c.unit(x)
	switch x.kind {
	case words:
		return x.text
	case integer:
		return strconv.Itoa(x.n)
	case number:
		return c.number(x.value)
	case interval:
		if x.brief {
			return c.number(x.value)
		}
		if c.Paper {
			return c.number(x.value) + " ±" + c.number((x.high-x.low)/2)
		}
		return c.number(x.value) + " [" + c.number(x.low) + ", " + c.number(x.high) + "]"
	case single:
		return c.number(x.value) + " (n=1)"
	}
	return "-"
}

func (c Column) numeric(rows [][]Cell, at int) bool {
	for _, r := range rows {
		if k := r[at].kind; k != missing && k != words {
			return true
		}
	}
	return false
}

// DropConstant leaves out columns, of more than one row, that hold one word or whole
// number alone, but for those to keep, and says so in a note.
func (t *Table) DropConstant(keep ...string) {
	if len(t.Rows) < 2 {
		return
	}
	var left []string
	for i := len(t.Columns) - 1; i >= 0; i-- {
		first, name := t.Rows[0][i], t.Columns[i].Name
		same := !slices.Contains(keep, name) && (first.kind == words || first.kind == integer || first.kind == missing)
		for _, r := range t.Rows {
			same = same && r[i] == first
		}
		if !same {
			continue
		}
		if shown := t.Columns[i].Show(first); shown != "" && first.kind != missing {
			left = append(left, name+" "+shown)
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
		}
	}
	if left != nil {
		slices.Reverse(left)
		t.Notes = append(t.Notes, fmt.Sprintf("all rows: %s", strings.Join(left, ", ")))
	}
}

// Words are those of a text cell.
func (x Cell) Words() string { return x.text }

// Value is the number of a cell, its mean where it has an interval; ok is false for words
// and for a missing value.
func (x Cell) Value() (v float64, ok bool) { return x.value, x.kind != missing && x.kind != words }

// Ends are those of the cell's interval, if it has one.
func (x Cell) Ends() (low, high float64, ok bool) { return x.low, x.high, x.kind == interval }

// IsSingle says that the cell is the value of a single run.
func (x Cell) IsSingle() bool { return x.kind == single }

// IsBrief says that text, Markdown and LaTeX leave out the cell's interval.
func (x Cell) IsBrief() bool { return x.brief }
