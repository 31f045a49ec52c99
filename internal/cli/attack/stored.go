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

// replacing says what becomes of a result that is there.
func (o *options) replacing() base.Replacing {
	return base.Replacing{Force: o.force, IfNeeded: o.ifNeeded, Place: "--out-dir FOLDER"}
}

// stored returns attack.json where it is to be shown.
func (o *options) stored(r *run.Run, opts record.AttackOptions) (*record.Attack, error) {
	return base.Stored(r, &o.Subject, o.path(), o.replacing(), robustness.PlannedAttack(opts), func(d *record.Attack) (bool, error) { return robustness.HoldsAttack(d, opts), nil })
}

// storedCurve refuses, before the work, to replace a curve, as stored does.
func (o *options) storedCurve(r *run.Run, opts record.AttackOptions) error {
	if err := base.Writable(o.curvePath()); err != nil || o.force {
		return err
	}
	return base.KeptError(run.Keep(r, o.curvePath(), robustness.PlannedCurve(opts, o.points), o.Set, o.Checkpoint), "--out-dir FOLDER")
}
