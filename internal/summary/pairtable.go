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
	t.Notes = append(t.Notes, fmt.Sprintf("auc and eer are of all thresholds; errors are equal at %.4g", c.EERThreshold))
	return t
}
