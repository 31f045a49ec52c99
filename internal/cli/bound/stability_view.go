package bound

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"tercet/internal/cli/base"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

func stabilityText(d *printed.BoundStability, inputs string) string {
	var b strings.Builder
	head := []any{""}
	var results []*record.BoundValue
	for _, f := range d.Forms {
		if f.BoundValue != nil {
			results, head = append(results, f.BoundValue), append(head, f.Form)
		}
	}
	fmt.Fprintf(&b, "%s bounds %s, %s\n%s\n\n", d.Source, results[0].Bounds, results[0].Holds, inputs)
	t := base.PlainTable(head...)
	appendTerms(t, results, func(r *record.BoundValue) []record.Term { return r.Terms })
	cells, verdicts := table.Row{"bound"}, table.Row{"which is"}
	for _, r := range results {
		cells = append(cells, fmt.Sprintf("%.6g", r.Value))
		if r.Vacuous != nil {
			verdicts = append(verdicts, map[bool]string{true: "vacuous", false: "not vacuous"}[*r.Vacuous])
		}
	}
	t.AppendRow(cells)
	if len(verdicts) == len(cells) {
		t.AppendRow(verdicts)
	}
	fmt.Fprintln(&b, t.Render())
	if len(results[0].With) > 0 {
		t = base.PlainTable(append([]any{"on the way"}, head[1:]...)...)
		appendTerms(t, results, func(r *record.BoundValue) []record.Term { return r.With })
		fmt.Fprintf(&b, "\n%s\n", t.Render())
	}
	b.WriteString("\n")
	for _, f := range d.Forms {
		if f.BoundValue == nil {
			fmt.Fprintf(&b, "%s: %s\n", f.Form, f.Refused)
		} else if f.Rate != nil {
			fmt.Fprintf(&b, "order, without its constant, %s: %s = %.6g\n", f.Form, f.Rate.Name, f.Rate.Value)
		}
	}
	for _, n := range stabilityNotes(results) {
		fmt.Fprintln(&b, n)
	}
	if results[0].Vacuous != nil {
		fmt.Fprintf(&b, "Vacuous is a bound above %v, the largest value of the loss.\n", results[0].Sup)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// appendTerms adds a row for each name that any form has, in their order.
func appendTerms(t table.Writer, results []*record.BoundValue, of func(r *record.BoundValue) []record.Term) {
	var names []string
	for _, r := range results {
		for _, term := range of(r) {
			names = lists.AppendNew(names, term.Name)
		}
	}
	for _, name := range names {
		row := table.Row{name}
		for _, r := range results {
			cell := ""
			for _, term := range of(r) {
				if term.Name == name {
					cell = fmt.Sprintf("%.6g", term.Value)
				}
			}
			row = append(row, cell)
		}
		t.AppendRow(row)
	}
}

// stabilityNotes lists the notes of all forms once; those that not all have name theirs.
func stabilityNotes(results []*record.BoundValue) []string {
	var out []string
	for _, r := range results {
		for _, n := range r.Notes {
			all := !slices.ContainsFunc(results, func(other *record.BoundValue) bool { return !slices.Contains(other.Notes, n) })
			if !all {
				n = r.Form + ": " + n
			}
			out = lists.AppendNew(out, n)
		}
	}
	return out
}
