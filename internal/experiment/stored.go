package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"tercet/internal/record"

	"tercet/internal/fsx"
	"tercet/internal/report"
)

// StoredAttack reads an attack.json; nil where there is none. One that cannot be read, of
// another schema or damaged, is a *KeptError: nobody can say what replacing it loses.
func StoredAttack(path string) (*record.Attack, error) {
	return readKept[record.Attack](path, record.AttackSchema)
}

// StoredCurve reads a curve.json, as StoredAttack does.
func StoredCurve(path string) (*record.Curve, error) {
	return readKept[record.Curve](path, record.CurveSchema)
}

// StoredEval reads an eval.json, as StoredAttack does.
func StoredEval(path string) (*record.Eval, error) {
	return readKept[record.Eval](path, record.EvalSchema)
}

// readKept reads the document of a schema that path holds; nil where there is no file.
func readKept[T any](path, schema string) (*T, error) {
	b, err := fsx.ReadFile(path, report.MaxDocument)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	d := new(T)
	var head struct {
		Schema string `json:"schema"`
	}
	if err == nil {
		err = record.Check(b)
	}
	if err == nil {
		err = json.Unmarshal(b, &head)
	}
	if err == nil && head.Schema != schema {
		return nil, &record.KeptError{Path: path, Lost: []string{fmt.Sprintf("a document of schema %q; this version reads %s", head.Schema, schema)}}
	}
	if err == nil {
		err = json.Unmarshal(b, d)
	}
	if err != nil {
		return nil, &record.KeptError{Path: path, Lost: []string{"a file that cannot be read: " + record.Words(err)}}
	}
	return d, nil
}

// stored reads what path holds into d; false where there is nothing that can be read.
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
