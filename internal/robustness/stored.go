package robustness

import (
	"tercet/internal/attack"
	"tercet/internal/record"
)

// PlannedAttack is the document of attacks by o as far as it is known in advance: its
// options and the keys of its scores.
func PlannedAttack(o record.AttackOptions) record.Attack {
	resolveAttack(&o)
	return record.Attack{Options: o, Scores: plannedScores(o)}
}

// PlannedCurve is PlannedAttack for a curve over the given eps.
func PlannedCurve(o record.AttackOptions, eps []float64) record.Curve {
	resolveAttack(&o)
	d := record.Curve{Options: o}
	for _, v := range eps {
		d.Points = append(d.Points, record.CurvePoint{Eps: v, Scores: plannedScores(o)})
	}
	return d
}

func plannedScores(o record.AttackOptions) map[string]record.Scores {
	out := map[string]record.Scores{}
	for _, v := range o.Variants {
		for _, key := range attack.Keys(o.Attacks) {
			s, _ := attack.ScoreNamed(key)
			out[v] = append(out[v], record.Score{Key: key, Value: record.Value{Definition: s.Definition(attack.Variant(v))}})
		}
	}
	return out
}

// HoldsAttack reports whether d covers the request o, with scores by today's definitions.
func HoldsAttack(d *record.Attack, o record.AttackOptions) bool {
	if d.Gallery > 0 && len(o.Variants) == 0 {
		o.Variants = d.Options.Variants // all that a gallery has
	}
	resolveAttack(&o)
	if !d.Holds(o) {
		return false
	}
	for v, list := range plannedScores(o) {
		for _, s := range list {
			if is, ok := d.Scores[v].Get(s.Key); !ok || is.Definition != s.Definition {
				return false
			}
		}
	}
	return true
}
