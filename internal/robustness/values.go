package robustness

import (
	"tercet/internal/attack"
	"tercet/internal/record"
)

// keepValues stores what each query has under attack in a variant; ERS follows from the
// others, query by query.
func keepValues(d *record.Attack, r *attack.Result, s *attack.Scored) {
	if d.Values == nil {
		d.Values = map[string]record.PackedScores{}
		d.Items = packItems(r.Queries)
		if r.Candidates != nil {
			d.Candidates = packItems(r.Candidates)
		}
	}
	of := record.PackedScores{}
	for k, key := range s.Keys {
		if key != attack.ERS {
			of[key] = record.Pack(s.Adversarial[k])
		}
	}
	d.Values[string(s.Variant)] = of
}

func packItems(items []int) record.Packed {
	out := make([]float64, len(items))
	for i, q := range items {
		out[i] = float64(q) // exact up to 2^24 images
	}
	return record.Pack(out)
}
