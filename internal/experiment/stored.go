package experiment

import (
	"bytes"
	"encoding/json"

	"tercet/internal/record"

	"tercet/internal/fsx"
	"tercet/internal/report"
)

// StoredAttack reads an attack.json; nil where there is none that this version can
// read: of another schema, or broken.
func StoredAttack(path string) *AttackDoc {
	d := new(AttackDoc)
	if !stored(path, d) || d.Schema != attackSchema {
		return nil
	}
	return d
}

// StoredCurve reads a curve.json, as StoredAttack does.
func StoredCurve(path string) *CurveDoc {
	d := new(CurveDoc)
	if !stored(path, d) || d.Schema != curveSchema {
		return nil
	}
	return d
}

// StoredEval reads an eval.json, as StoredAttack does.
func StoredEval(path string) *EvalDoc {
	d := new(EvalDoc)
	if !stored(path, d) || d.Schema != evalSchema {
		return nil
	}
	return d
}

func stored(path string, d any) bool {
	b, err := fsx.ReadFile(path, report.MaxDocument)
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
func (r *Run) Measures(s Source, checkpoint string, step int, set string) bool {
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

// Same reports whether d is the result of these options.
func (d *AttackDoc) Same(o AttackOptions) bool {
	o.resolve()
	return sameJSON(d.Options, o)
}

// Same reports whether d is the result of these options.
func (d *EvalDoc) Same(o EvalOptions) bool { return sameJSON(d.Options, o) }

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
