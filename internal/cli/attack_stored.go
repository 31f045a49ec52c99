package cli

import (
	"errors"

	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

// path is where the result goes.
func (o *attackOptions) path() string {
	return run.ResultPath(o.out, "attack", o.set, o.checkpoint)
}

// curvePath is where a curve goes.
func (o *attackOptions) curvePath() string {
	return run.ResultPath(o.out, "curve", o.set, o.checkpoint)
}

// stored returns the result that is there where it is the one asked for and
// --if-needed is given. It refuses, before the work, to replace one that the new one
// does not cover.
func (o *attackOptions) stored(r *run.Run, opts record.AttackOptions) (*record.Attack, error) {
	if err := writable(o.path()); err != nil || o.force {
		return nil, err
	}
	d, err := record.ReadKept[record.Attack](o.path())
	if d == nil {
		return nil, keptError(err, "--out-dir FOLDER")
	}
	step, err := r.Step(o.checkpoint)
	if err != nil {
		return nil, runError(err)
	}
	if o.ifNeeded && r.Owns(o.path(), d.Source) && robustness.SameAttack(d, opts) && r.Measures(d.Source, o.checkpoint, step, o.set) {
		return d, nil
	}
	return nil, keptError(r.Protect(o.path(), d.Source, o.set, o.checkpoint, robustness.PlannedAttack(opts).Covers(*d)), "--out-dir FOLDER")
}

// storedCurve refuses, before the work, to replace a curve, as stored does.
func (o *attackOptions) storedCurve(r *run.Run, opts record.AttackOptions) error {
	if err := writable(o.curvePath()); err != nil || o.force {
		return err
	}
	return keptError(run.Keep(r, o.curvePath(), robustness.PlannedCurve(opts, o.points), o.set, o.checkpoint), "--out-dir FOLDER")
}

// writable refuses a path to which no result is written, before the work.
func writable(path string) error {
	if err := run.Writable(path); err != nil {
		return &ExitError{ExitUsage, err}
	}
	return nil
}

// keptError says how a result that is not replaced can be, or where else the new one
// goes: the flag that place names, "" where there is none.
func keptError(err error, place string) error {
	var kept *record.KeptError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &kept):
		return runError(err)
	case place == "":
		return usagef("%w; --force replaces it", err)
	}
	return usagef("%w; %s writes elsewhere, --force replaces it", err, place)
}
