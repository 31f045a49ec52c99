package base

import "github.com/jedib0t/go-pretty/v6/table"

// PlainTable is a table without lines, for reading and for awk.
func PlainTable(head ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft, t.Style().Box.PaddingRight = "", "  "
	t.AppendHeader(table.Row(head))
	t.SuppressTrailingSpaces()
	return t
}

// Bare says whether a format is for programs, which want numbers in full.
func Bare(format string) bool { return format == "csv" || format == "json" }
