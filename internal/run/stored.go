package run

import (
	"encoding/json"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// ReadStored reads what path holds into d; false where there is nothing that can be read.
func ReadStored(path string, d any) bool {
	b, err := fsx.ReadFile(path, record.MaxDocument)
	return err == nil && record.Check(b) == nil && json.Unmarshal(b, d) == nil
}

// Step returns the step of a checkpoint of the run.
func (r *Run) Step(checkpoint string) (int, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return 0, err
	}
	return c.State.Step, nil
}

// Threshold returns that of the loss of a checkpoint of the run, nil
// where it fixes none.
func (r *Run) Threshold(checkpoint string) (*float64, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	return c.Threshold, nil
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
