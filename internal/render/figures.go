package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FourFigures shows a number with four significant figures, whole from 1,000 on.
func FourFigures(v float64) string { return significant(v, 4) }

func significant(v float64, n int) string {
	switch size := math.Abs(v); {
	case size >= 1000 && size < 1e9:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', n, 64)
	}
}

// InFigures makes all numbers words of four significant figures, ends of intervals of
// three, but those of one column: numbers of one column may be a millionth and a million.
func (t *Table) InFigures(but string) {
	for _, r := range t.Rows {
		for i, x := range r {
			if t.Columns[i].Name == but {
				continue
			}
			switch x.kind {
			case number:
				r[i] = Text(FourFigures(x.value))
			case single:
				r[i] = Text(FourFigures(x.value) + " (n=1)")
			case interval:
				r[i] = Text(fmt.Sprintf("%s [%s, %s]", FourFigures(x.value), significant(x.low, 3), significant(x.high, 3)))
			case missing:
				r[i] = Text("-")
			}
		}
	}
}

// DropEmpty leaves out columns that have nothing in any row.
func (t *Table) DropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		empty := func(r []Cell) bool {
			return r[i].kind == missing || r[i].kind == words && strings.Trim(r[i].text, "-") == ""
		}
		if slices.ContainsFunc(t.Rows, func(r []Cell) bool { return !empty(r) }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for k, r := range t.Rows {
			t.Rows[k] = slices.Delete(r, i, i+1)
		}
	}
}
