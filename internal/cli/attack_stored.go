package cli

import (
	"path/filepath"
	"strings"

	"tercet/internal/experiment"
)

// path is where the result goes.
func (o *attackOptions) path() string { return filepath.Join(o.out, "attack.json") }

// stored returns the result that is there where it is the one asked for and
// --if-needed is given. It refuses, before the work, to replace one of the same
// weights that has more.
func (o *attackOptions) stored(r *experiment.Run, opts experiment.AttackOptions) (*experiment.AttackDoc, error) {
	d := experiment.StoredAttack(o.path())
	if d == nil || o.force {
		return nil, nil
	}
	step, err := r.Step(o.checkpoint)
	if err != nil {
		return nil, runError(err)
	}
	own := o.out == r.Dir || d.Source.Run == r.Dir // a run's directory may have been moved
	if o.ifNeeded && own && d.Same(opts) && r.Measures(d.Source, o.checkpoint, step, o.set) {
		return d, nil
	}
	var lost []string
	switch there, err := r.Step(d.Source.Checkpoint); {
	case !own:
		lost = []string{"the scores of " + d.Source.Run}
	case err != nil || there != d.Source.Step:
		return nil, nil // the run has gone on
	case d.Source.Set != o.set || d.Source.Step != step:
		lost = []string{"the scores of checkpoint " + d.Source.Checkpoint + " on set " + d.Source.Set}
	default:
		lost = d.Lacks(opts)
	}
	if lost == nil {
		return nil, nil
	}
	return nil, usagef("%s has what this attack has not: %s; --out FOLDER writes elsewhere, --force replaces it", o.path(), strings.Join(lost, "; "))
}
