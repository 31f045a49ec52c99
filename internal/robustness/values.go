package robustness

import (
	"tercet/internal/attack"
	"tercet/internal/record"
)

// keepValues stores what each query has under attack in a variant; ERS follows from the
// others, query by query.
func keepValues(d *record.Attack, queries []int, s *attack.Scored) {
	if d.Values == nil {
		d.Values = map[string]record.PackedScores{}
		items := make([]float64, len(queries))
		for i, q := range queries {
			items[i] = float64(q) // exact up to 2^24 images
		}
		d.Items = record.Pack(items)
	}
	of := record.PackedScores{}
	for k, key := range s.Keys {
		if key != attack.ERS {
			of[key] = record.Pack(s.Adversarial[k])
		}
	}
	d.Values[string(s.Variant)] = of
}
