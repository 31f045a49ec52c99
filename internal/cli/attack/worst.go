package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/attack/worst"
	"tercet/internal/cli/base"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/summary"
	"tercet/internal/text"
)

// The suites that are no list of attacks but an ensemble.
const (
	worstSuite = "worst"
	plusSuite  = worst.Plus
)

// ensemble is the version of the ensemble that is asked for, "" for none.
func (o *options) ensemble() string {
	switch strings.ToLower(o.suite) {
	case worstSuite:
		return worst.Standard
	case plusSuite:
		return worst.Plus
	}
	return ""
}

// notWorst are the flags of the other attacks.
var notWorst = []string{
	"variant", "step", "pgd-steps", "rule", "direction", "start", "restarts", "iterate", "target-draws", "ca-queries", "qa-candidates", "near-targets", "distance-objective",
	"spqa-weight", "spqa-weight-scale", "curve", "bootstrap", "batch", "fail-over", "examples", "example-attacks", "per-query", "task", "merge", "task", "merge",
}

// checkWorst refuses what is wrong whatever the run.
func (o *options) checkWorst() ([]base.Gate, error) {
	if o.Run == "" {
		return nil, base.Usagef("name what to attack: --run DIRECTORY")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	for _, flag := range notWorst {
		if o.changed(flag) && (flag == "task" || flag == "merge") {
			return nil, base.Usagef("--%s: --suite %s is not divided into tasks; an interrupted command continues after its last finished attack", flag, o.suite)
		}
		if o.changed(flag) {
			return nil, base.Usagef("--%s is for --attack and --suite ers: the attacks of --suite %s have their own settings", flag, o.suite)
		}
	}
	if o.nearest > 1 && o.moves {
		return nil, base.Usagef("--move-gallery uses only the nearest row: leave out --k")
	}
	if o.nearest == 1 {
		o.nearest = 0 // as documents have it
	}
	if err := o.savable(); err != nil {
		return nil, err
	}
	var galleries []string
	for _, g := range o.galleries {
		g = strings.ToLower(strings.TrimSpace(g))
		switch {
		case !slices.Contains(worst.Galleries(), g):
			return nil, base.Usagef("--gallery: unknown gallery %q; %s", g, names.Unknown(g, worst.Galleries()))
		case slices.Contains(galleries, g):
			return nil, base.Usagef("--gallery names %s twice", g)
		}
		galleries = append(galleries, g)
	}
	if o.galleries = galleries; len(galleries) == 0 {
		return nil, base.Usagef("--gallery is empty; %s", names.Unknown("", worst.Galleries()))
	}
	gates, err := o.Gates()
	if err != nil {
		return nil, err
	}
	var keys []string
	for k, g := range galleries {
		for _, score := range robustness.WorstScores(o.nearest) {
			keys = append(keys, worstGate(score, g, k))
		}
	}
	if o.moves {
		keys = append(keys, robustness.MovedScores()...)
	}
	return gates, base.KnownGates(gates, keys)
}

// worstGate is the name of a score in gates: those of the first gallery have no other.
func worstGate(score, gallery string, k int) string {
	if k == 0 {
		return score
	}
	return score + "(" + gallery + ")"
}

// worstOptions completes what is asked for by the profile.
func (o *options) worstOptions(r *run.Run) (record.WorstOptions, error) {
	w := record.WorstOptions{
		Version: o.ensemble(), Norm: o.ask.Norm, Galleries: o.galleries, K: o.nearest, Queries: o.ask.Queries, Sample: o.ask.Sample, Seed: o.ask.Seed, Battery: o.battery, Moves: o.moves,
	}
	shape := r.Manifest.Data.Train.Shape
	var profile record.AttackOptions
	if err := robustness.Profile(&profile, o.profile, shape[0]); err != nil {
		return w, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	w.Eps = profile.Eps
	switch {
	case o.eps != "":
		var err error
		if w.Eps, err = base.Fraction("--eps", o.eps); err != nil {
			return w, err
		}
	case w.Norm != profile.Norm:
		return w, base.Usagef("--norm %s needs --eps: the profile's is for the %s ball", w.Norm, profile.Norm)
	}
	return w, ballFits(w.Norm, w.Eps, shape)
}

func runWorst(ctx context.Context, s *base.Streams, o options) error {
	gates, err := o.checkWorst()
	if err != nil {
		return err
	}
	r, err := o.open()
	if err != nil {
		return err
	}
	defer r.Close()
	opts, err := o.worstOptions(r)
	if err != nil {
		return err
	}
	if err := o.NoteUnfinished(s, r); err != nil {
		return err
	}
	if o.out == "" {
		o.out = r.Dir
	}
	var given *worst.Given
	if o.changed("verify") {
		if given, opts.Given, err = robustness.ReadGiven(o.verify); err != nil {
			return base.RunError(err)
		}
	}
	networks, err := o.networks(r, &opts)
	if err != nil {
		return err
	}
	defer func() {
		for _, r := range networks {
			r.Close()
		}
	}()
	path := run.ResultPath(o.out, worstSuite, o.Set, o.Checkpoint)
	d, err := base.Stored(r, &o.Subject, path, o.replacing(), record.Worst{Options: opts}, func(d *record.Worst) (bool, error) { return robustness.HoldsWorst(d, opts), nil })
	if err != nil {
		return err
	}
	if d != nil {
		s.Note("%s is up to date", path)
		return o.showWorst(s, d, gates)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	proof, err := o.proven(r)
	if err != nil {
		return err
	}
	view, build := &base.Stages{Streams: s}, base.BuildInfo()
	defer view.Close()
	part := strings.TrimSuffix(path, filepath.Ext(path)) + ".part"
	d, a, err := robustness.Worst(ctx, r, robustness.WorstPlan{
		Checkpoint: o.Checkpoint, Set: o.Set, Options: opts, Part: part, Replace: o.force, Given: given, Others: networks, Program: strings.TrimSpace(build.Version + " " + build.Commit),
	}, view.Say)
	if err != nil && ctx.Err() != nil {
		return interrupted(ctx, err, part)
	}
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	if proof != nil {
		if err := robustness.Sandwich(proof, d); err != nil {
			return err
		}
		if a := proof.Attacked; a != nil {
			s.Note("with certify.json at eps %s: of %s %d are certified, %d broken, %d unknown", text.Eps(proof.Options.Norm, a.Eps), text.Plural(a.Queries, "query", "queries"), a.Certified, a.Broken, a.Unknown)
		}
	}
	figures := run.FigureFolder(o.out, o.Set, o.Checkpoint)
	if err := base.Undraw(figures, worstSuite); err != nil {
		return err
	}
	if err := record.Write(path, d); err != nil {
		return err
	}
	if err := robustness.RemovePart(part); err != nil {
		return err
	}
	if !o.NoPictures && opts.Eps > 0 {
		if err := base.Picture(s, func() (string, error) { return robustness.DrawWorst(d, figures) }); err != nil {
			return err
		}
	}
	if o.save != "" {
		if err := saveWorst(o.save, a); err != nil {
			return err
		}
		s.Note("wrote %s", o.save)
	}
	return o.showWorst(s, d, gates)
}

// interrupted is the error of a worst case that a signal ended: where, and how to continue.
func interrupted(ctx context.Context, err error, part string) error {
	where, next := "", "no attack was completed"
	if s := (*worst.Stopped)(nil); errors.As(err, &s) {
		where = fmt.Sprintf(" in gallery %s, attack %s", s.Gallery, s.Attack)
	}
	if _, err := os.Stat(part); err == nil {
		next = part + " holds the completed attacks, and the same command continues after them"
	}
	return &base.ExitError{Code: base.ExitInterrupted, Err: fmt.Errorf("%w%s; %s", context.Cause(ctx), where, next)}
}

// proven returns the certificates of the run, nil where there are none. A query that is
// certified and broken is a bug in one of the two. They are read before the work.
func (o *options) proven(r *run.Run) (*record.Certify, error) {
	c, err := record.ReadIfThere[record.Certify](run.ResultPath(r.Dir, "certify", o.Set, o.Checkpoint))
	if err != nil {
		return nil, base.RunError(fmt.Errorf("%w; the attack is compared with it: remove it to do without", err))
	}
	return c, nil
}

// networks opens the runs of --transfer.
func (o *options) networks(own *run.Run, opts *record.WorstOptions) (list []*run.Run, err error) {
	for _, dir := range o.transfer {
		r, err := run.Open(dir)
		if err == nil {
			r.Use()
			list = append(list, r)
			var name string
			switch name, err = robustness.OtherNetwork(r); {
			case err != nil:
			case slices.Contains(opts.Transfer, name):
				err = base.Usagef("%s is named twice, or another run with the same config", dir)
			case r.Manifest.Config == own.Manifest.Config:
				err = base.Usagef("%s is the attacked run, or one with the same config; give a run with another seed or defense", dir)
			}
			opts.Transfer = append(opts.Transfer, name)
		}
		if err != nil {
			for _, r := range list {
				r.Close()
			}
			return nil, base.RunError(fmt.Errorf("--transfer: %w", err))
		}
	}
	return list, nil
}

// showWorst prints a result and checks its gates.
func (o *options) showWorst(s *base.Streams, d *record.Worst, gates []base.Gate) error {
	s.Warn(d.Warnings...)
	t := summary.WorstTable(d)
	base.LabelSource(t, d.Source)
	if err := s.Result(d, func(w io.Writer) error { return t.Write(w, o.Format) }); err != nil {
		return err
	}
	var scores record.Scores
	for k, g := range d.Galleries {
		for _, v := range g.Scores {
			scores = append(scores, record.Score{Key: worstGate(v.Key, g.Gallery, k), Value: v.Value})
		}
	}
	if d.Moved != nil {
		scores = append(scores, d.Moved.Scores...)
	}
	return base.CheckGates(gates, scores)
}
