package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/text"
	"tercet/internal/train"
)

// Start, as Run.From, trains a run from its first step.
const Start = "start"

// CheckpointError is an error about a run's last checkpoint. It wraps
// train.ErrCheckpoint.
type CheckpointError struct {
	Dir    string
	Err    error
	Offers []Offer // what can take its place
}

// Offer is another checkpoint of a run, whole and of the run's config.
type Offer struct {
	Name string // "previous" or "best"
	Step int
}

func (e *CheckpointError) Error() string {
	if len(e.Offers) == 0 {
		return e.Err.Error() + "; no other checkpoint can be used"
	}
	list := lists.Map(e.Offers, func(o Offer) string { return fmt.Sprintf("checkpoints/%s.safetensors at step %d", o.Name, o.Step) })
	return fmt.Sprintf("%v; what can be used is %s", e.Err, strings.Join(list, " and "))
}

func (e *CheckpointError) Unwrap() error { return e.Err }

// unusable is err, about the last checkpoint, with what can take its place.
func (r *Run) unusable(err error) error {
	out := &CheckpointError{Dir: r.Dir, Err: err}
	for _, name := range []string{"previous", "best"} {
		if c, e := r.readCheckpoint(name); e == nil {
			out.Offers = append(out.Offers, Offer{name, c.State.Step})
		}
	}
	return out
}

// CheckpointPath is that of "last", "previous", "best", or of one that train.keep_every keeps,
// such as "step-200"; "" for another name.
func (r *Run) CheckpointPath(name string) string {
	switch name {
	case "last":
		return r.Last()
	case "previous":
		return r.Previous()
	case "best":
		return r.BestPath()
	}
	if step, ok := names.KeptStep(name); ok {
		return r.Path("checkpoints", fmt.Sprintf(KeptCheckpoints, strconv.Itoa(step)))
	}
	return ""
}

// KnownCheckpoint says whether it is the name of weights that results can be of.
func KnownCheckpoint(name string) bool {
	_, kept := names.KeptStep(name)
	return kept || name == names.Last || name == "best"
}

// KeptNames are the checkpoints that train.keep_every has kept in a run directory, by step.
func KeptNames(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(fsx.QuoteGlob(dir), "checkpoints", fmt.Sprintf(KeptCheckpoints, "*"))) // a quoted pattern is whole
	var out []string
	for _, p := range paths {
		if name := strings.TrimSuffix(filepath.Base(p), ".safetensors"); KnownCheckpoint(name) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, text.Natural)
	return out
}

// missingCheckpoint is the path of a checkpoint that is not there.
type missingCheckpoint string

func (m missingCheckpoint) Error() string {
	return fmt.Sprintf("%v: %s is missing", train.ErrCheckpoint, string(m))
}

func (m missingCheckpoint) Unwrap() []error { return []error{train.ErrCheckpoint, fs.ErrNotExist} }

// readCheckpoint reads one of the run's checkpoints, by name, and makes sure that it is
// of the run's config.
func (r *Run) readCheckpoint(name string) (*train.Checkpoint, error) {
	path := r.CheckpointPath(name)
	c, err := train.ReadCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missingCheckpoint(path)
	}
	if err != nil {
		return nil, err
	}
	if c.Config != r.Manifest.Config {
		return nil, fmt.Errorf("%w: %s belongs to another config (%s, the run's is %s); put its own back, or start a new run (%s name=...)", ErrOtherRun, path, c.Config, r.Manifest.Config, option.Name("set"))
	}
	if step, kept := names.KeptStep(name); kept && c.State.Step != step {
		return nil, fmt.Errorf("%w: %s was saved at step %d", train.ErrCheckpoint, path, c.State.Step)
	}
	if name == "best" {
		return c, r.chosen(c)
	}
	return c, nil
}

// chosen returns an error where c, in the place of the best checkpoint, is not the one
// that was found best. It is written before the manifest tells of it.
func (r *Run) chosen(c *train.Checkpoint) error {
	if s := c.State; s.Best != nil && s.BestStep != s.Step {
		return fmt.Errorf("%w: %s was saved at step %d, and the best one at step %d", train.ErrCheckpoint, r.BestPath(), s.Step, s.BestStep)
	}
	if b, step := r.Manifest.Best, c.State.Step; b != nil && (step < b.Step || step > b.Step && r.Manifest.Status == record.Finished) {
		return fmt.Errorf("%w: %s was saved at step %d, but the manifest says that the best one was saved at step %d", train.ErrCheckpoint, r.BestPath(), step, b.Step)
	}
	return nil
}

// toResume returns the checkpoint that training continues from; nil for a run that has
// none yet.
//
// Errors: a *CheckpointError where it is damaged, or is not there though it has been.
func (r *Run) toResume() (*train.Checkpoint, error) {
	c, err := r.readCheckpoint("last")
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, ErrOtherRun):
		return nil, err
	case errors.Is(err, fs.ErrNotExist) && !r.hadCheckpoint():
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %s is missing, though it existed before", train.ErrCheckpoint, r.Last())
	}
	return nil, r.unusable(err)
}

// hadCheckpoint says whether there has been a last checkpoint. Older versions wrote it
// before the manifest told of a step, but for a run that failed.
func (r *Run) hadCheckpoint() bool {
	m := &r.Manifest
	old := m.Builds == nil && m.Steps > 0 && (m.Status == record.Running || m.Status == record.Interrupted)
	_, err := os.Stat(r.Previous())
	return m.Checkpoint > 0 || old || err == nil
}

// complete says whether the run has come to its end: the manifest says so, and the last
// checkpoint is there, whole and of the step that the manifest says.
//
// Errors: a *CheckpointError where it is not.
func (r *Run) complete() (bool, error) {
	m := &r.Manifest
	if r.From != "" || m.Status != record.Finished {
		return false, nil
	}
	c, err := r.readCheckpoint("last")
	switch {
	case errors.Is(err, ErrOtherRun):
		return false, err
	case errors.Is(err, fs.ErrNotExist) && m.Pruned:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %s is missing", train.ErrCheckpoint, r.Last())
	case err == nil && c.State.Step != m.Steps:
		err = fmt.Errorf("%w: %s was saved at step %d", train.ErrCheckpoint, r.Last(), c.State.Step)
	case err == nil:
		return m.Steps >= m.Of || m.Stopped != nil || c.State.Stopped, nil
	}
	return false, r.unusable(fmt.Errorf("the manifest says finished at step %d of %d: %w", m.Steps, m.Of, err))
}

// Prune removes files of the run, which is finished and locked, such as
// "checkpoints/last.safetensors". That its last checkpoint is removed the manifest says first,
// so that training its config again finds it finished.
func (r *Run) Prune(files []string) error {
	for _, name := range files {
		if r.Path(name) == r.Last() {
			if err := r.readManifest(); err != nil {
				return err
			}
			r.Manifest.Pruned = true
			if err := r.SaveManifest(); err != nil {
				return err
			}
		}
		if err := os.Remove(r.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

// restore makes the checkpoint that From names the last one. The manifest is written
// first: killed in between, the run is not taken for a finished one.
func (r *Run) restore() error {
	m := &r.Manifest
	if r.From == Start {
		data, model := m.Data, m.Model
		m2 := fresh(r.Config)
		m2.Data, m2.Model, m2.Config = data, model, m.Config
		*m = m2
		if err := r.SaveManifest(); err != nil {
			return err
		}
		for _, path := range []string{r.Previous(), r.Last(), r.BestPath()} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	if r.From != "previous" && r.From != "best" {
		return fmt.Errorf("unknown checkpoint %q (valid: previous, best, %s)", r.From, Start)
	}
	c, err := r.readCheckpoint(r.From)
	if err != nil {
		return err
	}
	m.Log = nil // it goes behind the checkpoint
	m.Status, m.Message, m.Stopped, m.Steps, m.Checkpoint = record.Running, "", nil, c.State.Step, c.State.Step
	if err := r.SaveManifest(); err != nil {
		return err
	}
	return fsx.Keep(r.CheckpointPath(r.From), r.Last())
}
