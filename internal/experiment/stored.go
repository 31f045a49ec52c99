package experiment

import (
	"bytes"
	"encoding/json"

	"tercet/internal/attack"
	"tercet/internal/record"

	"tercet/internal/fsx"
)

// stored reads what path holds into d; false where there is nothing that can be read.
func stored(path string, d any) bool {
	b, err := fsx.ReadFile(path, record.MaxDocument)
	return err == nil && record.Check(b) == nil && json.Unmarshal(b, d) == nil
}

// Step returns the step of the run's "last" or "best" checkpoint.
func (r *Run) Step(checkpoint string) (int, error) {
	c, err := r.checkpoint(checkpoint)
	if err != nil {
		return 0, err
	}
	return c.State.Step, nil
}

// Threshold returns that of the loss of the run's "last" or "best" checkpoint, nil
// where it fixes none.
func (r *Run) Threshold(checkpoint string) (*float64, error) {
	c, err := r.checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	return c.Threshold, nil
}

// TellsPairs says whether the run's loss says what pairs are similar, so that an
// evaluation scores them.
func (r *Run) TellsPairs(checkpoint string) (bool, error) {
	at, err := r.Threshold(checkpoint)
	return borderOf(r.Config, at).distance != nil, err
}

// Measures reports whether s is what a result of a checkpoint, at that step, and of
// a set of the run would be computed from.
func (r *Run) Measures(s record.Source, checkpoint string, step int, set string) bool {
	d := r.Manifest.Data
	of := &d.Test
	switch set {
	case "train":
		of = &d.Train
	case "validation":
		of = d.Validation
	}
	return s.Checkpoint == checkpoint && s.Step == step && s.Set == set && of != nil && s.Fingerprint == of.Fingerprint
}

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
	return sameJSON(d.Options, o)
}

// SameEval reports whether d is the result of these options.
func SameEval(d *record.Eval, o record.EvalOptions) bool { return sameJSON(d.Options, o) }

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
