package summary

import (
	"fmt"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// WorstTable has a column for each gallery, a row for each score, in percent, and a row for
// each attack with the queries that it broke.
func WorstTable(d *record.Worst) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: worst case of %s of %d, %s eps %s", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, d.Options.Norm, text.Eps(d.Options.Norm, d.Options.Eps)),
		Columns: []render.Column{{Name: "score"}},
		Notes:   []string{"an upper bound: an image that breaks a query proves that it is not robust, no image found proves nothing; galleries are fixed"},
	}
	if d.Options.K > 1 {
		t.Title += fmt.Sprintf(", broken where none of the %d nearest rows is right", d.Options.K)
	}
	var members []string
	var scores record.Scores // of all galleries: one may lack the share of no query
	for _, g := range d.Galleries {
		if len(g.Scores) > len(scores) {
			scores = g.Scores
		}
		t.Columns = append(t.Columns, render.Column{Name: fmt.Sprintf("%s (%s)", g.Gallery, text.Plural(g.Rows, "row", "rows"))})
		if len(g.Members) > len(members) {
			members = members[:0]
			for _, m := range g.Members {
				members = append(members, m.Member)
			}
		}
	}
	for _, s := range scores {
		row := []render.Cell{render.Text(s.Key).InPercent()}
		for _, g := range d.Galleries {
			row = append(row, measuredIn(g.Scores, s.Key).InPercent())
		}
		t.Rows = append(t.Rows, row)
	}
	if d.Moved != nil {
		t.Notes = append(t.Notes, "G1, GA: images of the whole gallery move and the query stays: one of the attacker's choice, or all; the 10 nearest wrong and right rows of each query were moved")
		if d.Moved.Hub != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("hub@1: share of %s whose nearest row is one image of the gallery, moved so that it is that to as many as can be; lower is more robust", text.Plural(d.Moved.Asked, "query", "queries")))
		}
		for _, s := range d.Moved.Scores {
			row := []render.Cell{render.Text(s.Key).InPercent()}
			for range d.Galleries {
				row = append(row, render.Missing())
			}
			row[1] = measuredIn(d.Moved.Scores, s.Key).InPercent()
			t.Rows = append(t.Rows, row)
		}
	}
	for _, name := range members {
		if name == "radius" { // which breaks none
			continue
		}
		row := []render.Cell{render.Text("broken by " + name)}
		for _, g := range d.Galleries {
			c := render.Missing()
			for _, m := range g.Members {
				if m.Member == name {
					c = render.Int(m.Broken)
				}
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, m := range d.Galleries[0].Members {
		if d.Options.Given != "" && m.Member == "given" {
			t.Notes = append(t.Notes, fmt.Sprintf("given images: queries right when clean that one of them breaks: %d; those that no other attack breaks: %d", m.Verified, m.Broken))
		}
	}
	t.Notes = append(t.Notes, checked(d.Checks)...)
	t.Notes = append(t.Notes,
		"broken by: queries that no attack above in the list breaks; each was verified in a batch, alone and with the direct kernels",
		fmt.Sprintf("cost: %d images forward, %d backward, %s", d.Cost.Forward, d.Cost.Backward, text.Duration(d.Cost.Seconds)))
	return t
}

// checked says what became of the battery: the verdicts, and the values of checks that did
// not pass.
func checked(list []record.WorstCheck) []string {
	if list == nil {
		return []string{"masked gradients were not looked for"}
	}
	count := map[string]int{}
	var out []string
	for _, c := range list {
		if count[c.Verdict]++; c.Verdict != "pass" {
			out = append(out, fmt.Sprintf("%s %s: %s: %.3g", c.Verdict, c.ID, c.What, c.Value))
		}
	}
	head := fmt.Sprintf("masked gradients: %d of %d checks pass", count["pass"], len(list))
	if count["fail"] > 0 {
		head = "NOT A ROBUSTNESS CLAIM; " + head
	}
	return append([]string{head}, out...)
}
