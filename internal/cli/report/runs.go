package report

import (
	"errors"
	"fmt"
	"path/filepath"

	"tercet/internal/archive"
	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
)

// ReadRuns reads all runs that patterns name, each with its config's keys.
// Where there are several, one that cannot be read is left out with a note.
func ReadRuns(s *base.Streams, patterns []string, of rundir.Of) ([]*rundir.Run, error) {
	dirs, err := rundir.Find(patterns)
	if err != nil {
		return nil, RunsError(err)
	}
	var runs []*rundir.Run
	for _, dir := range dirs {
		r, err := ReadRun(dir, of)
		if err != nil && len(dirs) == 1 {
			return nil, err
		}
		if err != nil {
			s.Note("warning: left out: %v", err)
			continue
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("none of the %d run directories can be read", len(dirs))}
	}
	return runs, nil
}

// ReadTableRuns reads runs for a table that is of test images and the last checkpoint
// alone, and notes which documents are of others.
func ReadTableRuns(s *base.Streams, patterns []string) ([]*rundir.Run, error) {
	runs, err := ReadRuns(s, patterns, rundir.Of{})
	noteLeft(s, runs)
	return runs, err
}

func noteLeft(s *base.Streams, runs []*rundir.Run) {
	for _, r := range runs {
		s.Warn(r.Left...)
	}
}

// ReadRun reads a run with its results of some images and weights and its config's keys.
func ReadRun(dir string, of rundir.Of) (*rundir.Run, error) {
	r, err := rundir.ReadOf(dir, of)
	if err != nil {
		return nil, RunsError(err)
	}
	r.Labels, err = Settings(dir, r.Manifest.Config)
	return r, err
}

// Settings are the keys of a run's config, which has the hash that its manifest says, "" for
// one that says none.
func Settings(dir, hash string) ([]rundir.Label, error) {
	path := filepath.Join(dir, "config.yaml")
	text, err := archive.ReadFile(path, config.MaxBytes)
	if err != nil {
		return nil, &base.ExitError{Code: base.ExitData, Err: err}
	}
	cfg, err := config.LoadBytes(text, path, nil)
	if err != nil {
		return nil, &base.ExitError{Code: base.ExitData, Err: err}
	}
	if err := run.SameConfig(path, text, cfg, hash); hash != "" && err != nil {
		return nil, &base.ExitError{Code: base.ExitData, Err: err}
	}
	out := lists.Map(cfg.Origins(), func(l printed.Origin) rundir.Label { return rundir.Label{Key: l.Key, Value: l.Value} })
	return out, nil
}

// RunsError gives an error about run directories its exit code.
func RunsError(err error) error {
	switch {
	case errors.Is(err, filepath.ErrBadPattern):
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	case errors.Is(err, rundir.ErrRun):
		return &base.ExitError{Code: base.ExitData, Err: err}
	}
	return err
}
