package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/render"
	"tercet/internal/verdict"
)

// fieldCell is a text as the kind of the column.
func (c *column) fieldCell(v string) render.Cell {
	x, err := strconv.ParseFloat(v, 64)
	switch {
	case c.kind == "text":
		return render.Text(v)
	case v == "" || err != nil:
		return render.Missing()
	case c.kind == "int":
		return render.Int(int(x))
	}
	return render.Number(x)
}

// scoreCell is an estimate in a row of n runs.
func (c *column) scoreCell(e Estimate, ok bool, n int) render.Cell {
	if !ok {
		return render.Missing()
	}
	out := e.cell()
	switch {
	case c.share:
		return render.Text(fmt.Sprintf("%.0f of %d", e.Value*float64(e.N), e.N))
	case c.max:
		out = render.Number(e.Max)
	case c.mean:
		out = render.Number(e.Value)
	case c.brief:
		out = out.Brief()
	}
	if c.optional || n == 0 {
		return out
	}
	return out.Counted(e.N, n)
}

// rowCell is what a row has in a column.
func (t *Table) rowCell(c *column, row *Row) render.Cell {
	if key, is := strings.CutPrefix(c.what, "d "); is {
		e, ok := row.Differences[key]
		if c.rule != "" {
			return render.Text(row.verdict(e, ok, c.rule))
		}
		return c.scoreCell(e, ok, row.N)
	}
	e, isScore := row.Scores[c.what]
	switch {
	case c.rule != "":
		return render.Text(row.verdict(e, isScore, c.rule))
	case c.what == "n" && row.Paper:
		return render.Missing()
	case c.what == "n":
		return render.Int(row.N)
	case row.Word != "" && !isScore && c.what == t.Scores[0].Name:
		return render.Text(row.Word)
	case c.what == "runs":
		return render.Int(len(row.Runs))
	case c.what == "better":
		return render.Text(t.better(row.Verdicts, row.Differences))
	case isScore || t.Score(c.what) != nil:
		return c.scoreCell(e, isScore, row.N)
	}
	v, ok := row.Fields[c.what]
	if !ok && c.form.Percent { // of a reducer
		return render.Missing()
	}
	if c.kind == "text" && !slices.Contains(t.Rows, c.what) {
		v = row.allOf(c.what)
	}
	return c.fieldCell(v)
}

// allOf are the values of a field in a row whose observations differ in it, or the row's.
func (row *Row) allOf(field string) string {
	var values []string
	for _, o := range row.obs {
		if v := o.Fields[field]; v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) < 2 {
		return row.Fields[field]
	}
	return strings.Join(values, ", ")
}

// verdict is that of a rule on a score of the row; "" where the rule's own score is not
// there.
func (row *Row) verdict(e Estimate, ok bool, text string) string {
	claim, known := row.rule(text)
	if !ok || !known {
		return ""
	}
	return claim.Of(e.deciding())
}

// better puts the verdicts of the scores together.
func (t *Table) better(verdicts map[string]string, differences map[string]Estimate) string {
	if verdicts == nil {
		return ""
	}
	var parts []string
	for _, v := range []string{verdict.Supported, verdict.Contradicted} {
		var of []string
		for _, s := range t.comparedScores() {
			if verdicts[s.Name] == v {
				of = append(of, s.Name)
			}
		}
		if of != nil {
			parts = append(parts, v+" ("+strings.Join(of, ", ")+")")
		}
	}
	switch {
	case len(differences) == 0:
		return "no seed in common"
	case parts == nil:
		return verdict.Inconclusive
	}
	return strings.Join(parts, ", ")
}

// differenceCell is what a contrast has in a column; in a table of rows its name is that of
// the last field of rows, and its differences are those columns.
func (t *Table) differenceCell(c *column, d *Difference) render.Cell {
	name := t.Rows[len(t.Rows)-1]
	key, isDifference := strings.CutPrefix(c.what, "d ")
	e, isScore := d.Scores[key]
	switch {
	case c.what == "n":
		return render.Int(d.N)
	case c.what == "difference", t.Show != "contrasts" && c.what == name:
		return render.Text(d.Name)
	case c.what == "of":
		return render.Text(d.Where)
	case c.what == "better":
		return render.Text(t.better(d.Verdicts, d.Scores))
	case c.rule != "" && (isDifference || t.Show == "contrasts"):
		return render.Text((&Row{}).verdict(e, isScore, c.rule))
	case isDifference || t.Show == "contrasts" && t.Score(c.what) != nil:
		n := d.N
		if t.Show == "contrasts" {
			n = 0
		}
		return c.scoreCell(e, isScore, n)
	case t.Score(c.what) != nil:
		return render.Missing()
	}
	return c.fieldCell(d.Fields[c.what])
}
