package evaluate

import (
	"strings"

	"tercet/internal/metric"
	"tercet/internal/record"
)

// keepValues stores what each query has by each retrieval score, where it is asked for;
// scores that only repeat others as published code has them are left out.
func keepValues(d *record.Eval, r *metric.Retrieval) {
	if !d.Options.PerQuery {
		return
	}
	values := make([]float64, len(r.Query))
	for i, q := range r.Query {
		values[i] = float64(q) // exact up to 2^24 images
	}
	d.Items, d.Values = record.Pack(values), record.PackedScores{}
	for k, s := range r.Scores {
		if strings.HasSuffix(s.Key, "(position-masked)") {
			continue
		}
		for i := range values {
			values[i] = r.PerQuery[i*len(r.Scores)+k]
		}
		d.Values[s.Key] = record.Pack(values)
	}
}
