package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/ranks"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/train"
)

// all trains the variants, jobs at once. One that collapsed, diverged or is
// another process's does not keep the others from running; the exit code then says
// so at the end.
func all(ctx context.Context, s *base.Streams, out string, l *loaded, team *ranks.Team) error {
	t, err := trainAll(ctx, s, out, l.variants, l.jobs, team, false)
	if err != nil {
		return err
	}
	doc := printed.Trained{Schema: record.TrainSchema}
	for _, e := range t.runs {
		doc.Runs = append(doc.Runs, e.Run.Manifest)
	}
	if err := s.Text(doc, runLines(out, l.variants)); err != nil {
		return err
	}
	return t.shortfall()
}

// Trials trains the runs as a sweep, jobs at once, and returns how they ended, in their order:
// a run that diverged, collapsed or is another process's stops nothing, and neither does one
// that does not fit the data, which has no Run.
func Trials(ctx context.Context, s *base.Streams, out string, variants []*config.Config, jobs int) ([]run.Ended, error) {
	t, err := trainAll(ctx, s, out, variants, jobs, nil, true)
	switch {
	case err != nil:
		return nil, err
	case len(t.busy) > 0:
		return nil, t.busy[0]
	}
	return t.runs, nil
}

func trainAll(ctx context.Context, s *base.Streams, out string, variants []*config.Config, jobs int, team *ranks.Team, search bool) (*trainedAll, error) {
	jobs = min(jobs, len(variants))
	t := &trainedAll{s: s, out: out, variants: variants, jobs: jobs, team: team, search: search}
	if jobs > 1 {
		s.Note("%d runs, %d at once, each on one thread", len(variants), jobs)
		t.view = newManyView(s, variants)
	} else {
		t.view = &serialView{view: view{s: s}, variants: variants}
	}
	defer t.view.end()
	err := run.Sweep(ctx, out, variants, run.SweepOptions{Jobs: jobs, Watch: t.view.watch, Team: team}, t.each)
	t.view.end()
	if err := t.outcome(err); err != nil {
		return nil, err
	}
	slices.SortFunc(t.runs, func(a, b run.Ended) int { return cmp.Compare(a.Variant, b.Variant) })
	return t, nil
}

// trainedAll is how the runs of a sweep ended.
type trainedAll struct {
	s        *base.Streams
	out      string
	variants []*config.Config
	jobs     int
	team     *ranks.Team
	view     sweepView
	search   bool // a run that does not fit the data stops nothing

	runs        []run.Ended // those whose manifest is known, or that do not fit the data
	lost, busy  []error
	interrupted []string
	failed      error // the first
}

// each takes in how a run ended. Its error ends the sweep.
func (t *trainedAll) each(e run.Ended) error {
	t.view.ended(e)
	dir := runDir(t.out, t.variants[e.Variant])
	err := e.Err
	var busy *run.BusyError
	if e.Run != nil {
		t.runs = append(t.runs, e)
	}
	switch sweep := len(t.variants) > 1; {
	case e.Done:
		t.s.Note("%s: finished before; nothing to do", dir)
	case err == nil:
		name := ""
		if sweep {
			name = t.variants[e.Variant].Name
		}
		ended(t.s, dir, name, e.Run.Manifest)
	case sweep && isLost(err):
		t.s.Note("%s: %v", dir, err)
		t.lost = append(t.lost, trainError(dir, err))
	case t.search && e.Run == nil && errors.Is(err, data.ErrUnfit):
		t.s.Note("%s: %v", dir, err)
		t.runs = append(t.runs, e)
	case sweep && errors.As(err, &busy):
		t.s.Note("%s: %s", dir, busy.Who())
		t.busy = append(t.busy, fmt.Errorf("%s: %s", dir, busy.Who()))
	case sweep && errors.Is(err, train.ErrInterrupted):
		t.s.Note("%s: %v", dir, err)
		t.interrupted = append(t.interrupted, dir)
		if t.team != nil { // it may have been another rank's signal
			return err
		}
	default:
		return t.fail(dir, e)
	}
	return nil
}

// fail takes in a run that failed.
func (t *trainedAll) fail(dir string, e run.Ended) error {
	err := base.RunError(e.Err)
	switch {
	case e.Run != nil:
		err = trainError(dir, e.Err)
	case len(t.variants) > 1: // there may be no directory that the error could name
		err = fmt.Errorf("run %s: %w", t.variants[e.Variant].Name, err)
	}
	if t.failed == nil && t.jobs < 2 {
		t.failed = err
		return err
	}
	if t.failed == nil {
		t.failed = err
		t.s.Note("%v\nno other run starts; the running ones finish", err)
	} else {
		t.s.Note("%v", err)
	}
	return err
}

// outcome is the error of a sweep that did not come to its end; stop is what
// Sweep returned.
func (t *trainedAll) outcome(stop error) error {
	const again = "the same command resumes the sweep"
	switch {
	case t.failed != nil:
		return t.failed
	case len(t.interrupted) > 0:
		slices.Sort(t.interrupted)
		return &base.ExitError{Code: base.ExitInterrupted, Err: fmt.Errorf("%s: %w; %s", strings.Join(t.interrupted, ", "), train.ErrInterrupted, again)}
	case stop != nil:
		return &base.ExitError{Code: base.ExitInterrupted, Err: fmt.Errorf("%w; %s", stop, again)}
	}
	return nil
}

// shortfall is the error of a sweep of which some runs were not trained to their
// end.
func (t *trainedAll) shortfall() error {
	all := slices.Concat(t.busy, t.lost)
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	code := base.ExitDiverged
	if len(t.busy) > 0 {
		code = base.ExitFailed
	}
	var b strings.Builder
	for _, err := range all {
		fmt.Fprintf(&b, "\n  %v", err)
	}
	return &base.ExitError{Code: code, Err: fmt.Errorf("%d of %d runs were not trained to their end:%s", len(all), len(t.variants), b.String())}
}
