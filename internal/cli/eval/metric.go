package eval

import (
	"fmt"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/summary"
)

// addMetric adds how a fitted metric tells triplets, beside Euclid's on the same
// features, which is the network before the fit.
func addMetric(t *render.Table, d *record.Eval) {
	m := d.Metric
	if m == nil {
		return
	}
	row := func(name string, s record.Scores) {
		cells := []render.Cell{render.Text(name)}
		for _, c := range t.Columns[1:] {
			key := map[string]string{"trained": "learnt", "untrained": "euclidean"}[c.Name]
			if v, ok := s.Get(key); ok {
				cells = append(cells, summary.Measured(v))
			} else {
				cells = append(cells, render.Missing())
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	var whitened []string
	beside := func(name string, s record.Scores) {
		row(name, s)
		if v, ok := s.Get("whitened"); ok {
			whitened = append(whitened, fmt.Sprintf("%s %.4f", name, v.Value))
		}
	}
	for _, set := range []string{"train", "test"} {
		if s := m.TripletError[set]; s != nil {
			beside("triplet_error."+set, s)
		}
	}
	beside("recall@1 by h_w", m.Recall)
	positives := "each class as positives"
	if m.Positive != "each" {
		positives = "class " + m.Positive + " as positives"
	}
	note := fmt.Sprintf("metric: %s, %s, %s, risk %.4f, objective %.4f", m.Algorithm, m.Loss, positives, m.Risk, m.Objective)
	if m.Certificate != nil {
		note += fmt.Sprintf(", within %.2g of the minimizer", *m.Certificate)
	}
	t.Notes = append(t.Notes, note)
	if m.NegativeMass > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%.2g %% of w, by the size of its eigenvalues, is below 0: the network embeds without it, triplet errors and h_w have it", 100*m.NegativeMass))
	}
	if whitened != nil {
		t.Notes = append(t.Notes, "whitened within the training classes: "+strings.Join(whitened, ", "))
	}
}
