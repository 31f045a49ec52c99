package run

import (
	"errors"
	"os"
	"path/filepath"

	"tercet/internal/config"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// Standing says where the run in dir stands. With a config, a directory that holds the run
// of another config is record.OtherRun. It changes nothing.
func Standing(dir string, cfg *config.Config) (printed.SweptRun, error) {
	return (&Run{Dir: dir}).standing(cfg)
}

// StandingWith is Standing of any config, with the manifest that says so, of which there is
// none where the run has not begun or is unreadable.
func StandingWith(dir string) (printed.SweptRun, *record.Manifest, error) {
	r := &Run{Dir: dir}
	out, err := r.standing(nil)
	if err != nil || out.Status == printed.NotBegun || out.Status == printed.Unreadable {
		return out, nil, err
	}
	return out, &r.Manifest, nil
}

func (r *Run) standing(cfg *config.Config) (printed.SweptRun, error) {
	dir := r.Dir
	out := printed.SweptRun{Dir: dir}
	if cfg != nil {
		held, err := r.holds(cfg)
		if err != nil || !held {
			out.Status, out.Message = printed.OtherRun, "the directory holds a run of another config"
			if err != nil {
				out.Status, out.Message = printed.Unreadable, err.Error()
			}
			return out, nil
		}
	}
	if !r.readStanding(&out) || out.Status == record.Finished {
		return out, nil
	}
	held, by, err := Locked(dir)
	if err != nil {
		return out, err
	}
	if held {
		out.Status, out.By = printed.InTraining, by
		return out, nil
	}
	// The process may have ended well since the manifest was read.
	if r.readStanding(&out); out.Status == record.Running {
		out.Status, out.By = printed.Dead, by
	}
	return out, nil
}

// readStanding reads what the manifest says, and reports whether there is one to be read.
func (r *Run) readStanding(out *printed.SweptRun) bool {
	switch err := r.readManifest(); {
	case errors.Is(err, os.ErrNotExist): // not even begun, or killed before it was written
		out.Status = printed.NotBegun
		_, err := os.Stat(r.Path("lock"))
		return err == nil
	case err != nil:
		out.Status, out.Message = printed.Unreadable, err.Error()
		return false
	}
	m := r.Manifest
	out.Status, out.Message, out.Steps, out.Of = m.Status, m.Message, m.Steps, m.Of
	return true
}

// holds reports whether the directory is cfg's run, or free for it.
func (r *Run) holds(cfg *config.Config) (bool, error) {
	resolved, err := cfg.Resolved()
	if err != nil {
		return false, err
	}
	old, err := fsx.ReadFile(r.Path("config.yaml"), config.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return vacant(r.Dir) == nil, nil
	}
	if err != nil {
		return false, err
	}
	return sameConfig(old, resolved) || r.untouched(), nil
}

// Standings are those of a sweep's variants below root.
func Standings(root string, variants []*config.Config) ([]printed.SweptRun, error) {
	var out []printed.SweptRun
	for _, cfg := range variants {
		s, err := Standing(filepath.Join(root, cfg.Name), cfg)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
