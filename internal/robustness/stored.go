package robustness

import (
	"tercet/internal/attack"
	"tercet/internal/record"
	"tercet/internal/run"
)

// PlannedAttack is the document of attacks by o as far as it is known before the work:
// its options and the keys of its scores.
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
	var list record.Scores
	for _, key := range attack.Keys(o.Attacks) {
		list = append(list, record.Score{Key: key})
	}
	out := map[string]record.Scores{}
	for _, v := range o.Variants {
		out[v] = list
	}
	return out
}

// SameAttack reports whether d is the result of these options.
func SameAttack(d *record.Attack, o record.AttackOptions) bool {
	resolveAttack(&o)
	return run.SameJSON(d.Options, o)
}
