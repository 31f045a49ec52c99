package cli

import (
	"path/filepath"
	"strings"

	"tercet/internal/experiment"
)

// path is where the result goes.
func (o *attackOptions) path() string { return filepath.Join(o.out, "attack.json") }

// curvePath is where a curve goes.
func (o *attackOptions) curvePath() string { return filepath.Join(o.out, "curve.json") }

// stored returns the result that is there where it is the one asked for and
// --if-needed is given. It refuses, before the work, to replace one of the same
// weights that has more, or that is of another attack.
func (o *attackOptions) stored(r *experiment.Run, opts experiment.AttackOptions) (*experiment.AttackDoc, error) {
	d := experiment.StoredAttack(o.path())
	if d == nil || o.force {
		return nil, nil
	}
	step, err := r.Step(o.checkpoint)
	if err != nil {
		return nil, runError(err)
	}
	if o.ifNeeded && o.own(r, d.Source) && d.Same(opts) && r.Measures(d.Source, o.checkpoint, step, o.set) {
		return d, nil
	}
	return nil, o.protect(r, o.path(), d.Source, step, d.Lacks(opts))
}

// storedCurve refuses, before the work, to replace a curve, as stored does.
func (o *attackOptions) storedCurve(r *experiment.Run, opts experiment.AttackOptions) error {
	d := experiment.StoredCurve(o.curvePath())
	if d == nil || o.force {
		return nil
	}
	step, err := r.Step(o.checkpoint)
	if err != nil {
		return runError(err)
	}
	return o.protect(r, o.curvePath(), d.Source, step, d.Lacks(opts, o.points))
}

// own reports whether a result is of the run: its directory may have been moved.
func (o *attackOptions) own(r *experiment.Run, from experiment.Source) bool {
	return o.out == r.Dir || from.Run == r.Dir
}

// protect is the error that protects the result in path: of other weights or images,
// unless the run has gone on since, or with something that the new one lacks. step
// is that of the run's checkpoint.
func (o *attackOptions) protect(r *experiment.Run, path string, from experiment.Source, step int, lost []string) error {
	switch there, err := r.Step(from.Checkpoint); {
	case !o.own(r, from):
		lost = []string{"the scores of " + from.Run}
	case err != nil || there != from.Step:
		return nil // the run has gone on
	case from.Set != o.set || from.Step != step:
		lost = []string{"the scores of checkpoint " + from.Checkpoint + " on set " + from.Set}
	}
	if lost == nil {
		return nil
	}
	return usagef("%s has what this attack has not: %s; --out FOLDER writes elsewhere, --force replaces it", path, strings.Join(lost, "; "))
}
