package summary

import (
	"fmt"

	"tercet/internal/record"
	"tercet/internal/render"
)

// pairTable shows the scores of pairs, and of how many pairs they are.
func pairTable(e *record.Eval) *render.Table {
	c := e.PairCounts
	t := &render.Table{
		Title:   fmt.Sprintf("%d pairs of one class, %d of two", c.Same, c.Different),
		Columns: []render.Column{{Name: "score"}, {Name: "value", Digits: 4}},
	}
	for _, sc := range e.Pairs {
		t.Rows = append(t.Rows, []render.Cell{render.Text("pairs." + sc.Key), Measured(sc.Value)})
	}
	if at := c.At; at != nil {
		from := "given"
		if at.From == "loss" {
			from = "that of the loss"
		}
		t.Notes = append(t.Notes, fmt.Sprintf("called the same at distance tau = %.4g or less (%s): %d pairs, of them %d of two classes", at.Threshold, from, at.Accepted, at.Wrong))
	}
	t.Notes = append(t.Notes, PairPointNotes(e)...)
	t.Notes = append(t.Notes, fmt.Sprintf("auc and eer are of all thresholds; errors are equal at %.4g", c.EERThreshold))
	return t
}

// PairPointNotes say at which distances the false match rates are, and what the intervals
// of their scores are.
func PairPointNotes(e *record.Eval) []string {
	var out []string
	for _, p := range e.PairCounts.Points {
		out = append(out, fmt.Sprintf("false match rate %v: distance %.4g, %d pairs accepted, of them %d of two classes", p.FMR, p.Threshold, p.Accepted, p.Wrong))
	}
	switch {
	case out == nil:
	case e.Options.Intervals == "":
		out = append(out, "their intervals are Wilson's, which take pairs as independent: those over classes are wider")
	case e.Options.Bootstrap > 0:
		out = append(out, "their intervals are a bootstrap over classes at these distances")
	}
	return out
}
