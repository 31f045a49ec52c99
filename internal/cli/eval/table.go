package eval

import (
	"fmt"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/summary"
	"tercet/internal/text"
)

// EvalTable shows an evaluation beside its baselines. For people, text and
// Markdown leave out what they rarely ask for, unless all is set.
func EvalTable(d *record.Eval, all bool) *render.Table {
	name, value := d.Source.Run, "trained"
	if name == "" {
		name, value = d.Source.Embeddings, "value"
	}
	classes := ""
	if d.Source.Classes > 0 {
		classes = text.Plural(d.Source.Classes, "class", "classes") + ", "
	}
	if d.Source.Neighbors != "" {
		name, value = d.Source.Neighbors+" of "+name, "lists"
	}
	title := fmt.Sprintf("%s: %s, %sD = %d", name, text.Plural(d.Source.Items, "item", "items"), classes, d.Source.Dim)
	if d.Gallery > 0 {
		title += fmt.Sprintf(", %s, %s in the gallery", text.Plural(d.Searched, "query", "queries"), text.Plural(d.Gallery, "image", "images"))
	}
	t, left := summary.EvalTable(title, value, d.Evaluated, d.Baselines, all)
	if d.Options.Intervals == record.ByClass && d.Options.Bootstrap > 0 {
		t.Notes = append(t.Notes, "intervals of retrieval scores: 95 %, bootstrap over classes")
	}
	addPairs(t, d)
	addMetric(t, d)
	addGap(t, d)
	base.LabelSource(t, d.Source)
	labelSelection(t, d)
	if left > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more scores: --all-scores, or --json with the definition of each", left))
	}
	return t
}

// labelSelection marks scores whose weights test images have chosen, in every format.
func labelSelection(t *render.Table, d *record.Eval) {
	if d.Selection == "" {
		return
	}
	t.Title += ", " + d.Selection
	for i := range t.Rows {
		if i == len(t.RowNotes) {
			t.RowNotes = append(t.RowNotes, d.Selection)
		} else {
			t.RowNotes[i] += ", " + d.Selection
		}
	}
}

// addPairs adds the scores of pairs, which the baselines have not.
func addPairs(t *render.Table, d *record.Eval) {
	if d.PairCounts == nil {
		return
	}
	for _, sc := range d.Pairs {
		row := []render.Cell{render.Text("pairs." + sc.Key), summary.Measured(sc.Value)}
		for len(row) < len(t.Columns) {
			row = append(row, render.Missing())
		}
		t.Rows = append(t.Rows, row)
	}
	c := d.PairCounts
	note := fmt.Sprintf("pairs: %d same, %d different", c.Same, c.Different)
	if at := c.At; at != nil {
		from := "the loss's threshold"
		if at.From == "option" {
			from = "the threshold"
		}
		note += fmt.Sprintf("; %d within %s %.4g, of them %d different", at.Accepted, from, at.Threshold, at.Wrong)
	}
	note += fmt.Sprintf("; equal errors at %.4g", c.EERThreshold)
	if e := d.Distances; e != nil {
		note += fmt.Sprintf("; mean distance %.4g within classes, %.4g between", e.Same.Mean, e.Different.Mean)
	}
	t.Notes = append(t.Notes, note)
	t.Notes = append(t.Notes, summary.PairPointNotes(d)...)
}
