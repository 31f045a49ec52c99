package compare

import (
	"fmt"
	"slices"

	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// ChecksTable has a row for each sentence that a claim was decided by.
func (s *Study) ChecksTable() *render.Table {
	t := &render.Table{Title: "claims about triplet metric learning", Notes: slices.Clone(s.Notes)}
	for _, name := range []string{"claim", "data", "says", "found", "verdict"} {
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
	n := 0
	for i := range s.Documents {
		d := &s.Documents[i]
		n += len(d.Checks)
		for _, c := range d.Checks {
			t.Rows = append(t.Rows, []render.Cell{render.Text(d.label()), render.Text(d.Data.Name), render.Text(c.Says), render.Text(c.Found), render.Text(verdict.OfAnswer(c.Holds))})
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%s, with no correction for their number", text.Plural(n, "check", "checks")))
	for _, d := range s.Documents {
		if d.Claim != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s: %s; positives: %s, negatives: %s", d.name(), d.Says, d.Verdict, d.Data.Positives, d.Data.Negatives))
		}
	}
	return t
}
