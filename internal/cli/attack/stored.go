package attack

import (
	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

// path is where the result goes.
func (o *options) path() string {
	return run.ResultPath(o.out, "attack", o.Set, o.Checkpoint)
}

// curvePath is where a curve goes.
func (o *options) curvePath() string {
	return run.ResultPath(o.out, "curve", o.Set, o.Checkpoint)
}

// stored returns the result that is there where it has what is asked for and
// --if-needed is given. It refuses, before the work, to replace one that the new one
// does not cover.
func (o *options) stored(r *run.Run, opts record.AttackOptions) (*record.Attack, error) {
	if err := base.Writable(o.path()); err != nil || o.force {
		return nil, err
	}
	d, err := record.ReadKept[record.Attack](o.path())
	if d == nil {
		return nil, base.KeptError(err, "--out-dir FOLDER")
	}
	step, err := r.Step(o.Checkpoint)
	if err != nil {
		return nil, base.RunError(err)
	}
	if o.ifNeeded && r.Owns(o.path(), d.Source) && robustness.HoldsAttack(d, opts) && r.Measures(d.Source, o.Checkpoint, step, o.Set) {
		return d, nil
	}
	return nil, base.KeptError(r.Protect(o.path(), d.Source, o.Set, o.Checkpoint, robustness.PlannedAttack(opts).Covers(*d)), "--out-dir FOLDER")
}

// storedCurve refuses, before the work, to replace a curve, as stored does.
func (o *options) storedCurve(r *run.Run, opts record.AttackOptions) error {
	if err := base.Writable(o.curvePath()); err != nil || o.force {
		return err
	}
	return base.KeptError(run.Keep(r, o.curvePath(), robustness.PlannedCurve(opts, o.points), o.Set, o.Checkpoint), "--out-dir FOLDER")
}
