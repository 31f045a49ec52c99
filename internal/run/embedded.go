package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/nn/gpu"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// Embedded is a run's network applied to one of its sets.
type Embedded struct {
	Run     *Run
	Source  record.Source
	Model   *nn.Model
	Data    data.Dataset
	Items   []int        // the place of each item in its set; nil where all are taken
	Vectors *array.Array // (N, D)
	Seconds float64
	// Threshold is the checkpoint's: the Euclidean distance up to which its loss
	// counts two embeddings as of one class, nil where it fixes none.
	Threshold *float64
}

// Checkpoint reads the run's "last" or "best" checkpoint, or one that train.keep_every keeps.
func (r *Run) Checkpoint(which string) (*train.Checkpoint, error) {
	if !KnownCheckpoint(which) {
		return nil, fmt.Errorf("unknown checkpoint %q (valid: last, best, step-N)", which)
	}
	c, err := r.readCheckpoint(which)
	_, kept := names.KeptStep(which)
	switch s := r.Manifest.Status; {
	case err == nil:
		return c, nil
	case kept && errors.Is(err, os.ErrNotExist):
		there := "the run keeps none (train.keep_every)"
		if list := KeptNames(r.Dir); len(list) > 0 {
			there = "there are " + strings.Join(list, ", ")
		}
		return nil, fmt.Errorf("%s: %w; %s", r.Dir, err, there)
	case errors.Is(err, ErrOtherRun):
		return nil, fmt.Errorf("%w: %v", ErrNoRun, err) // which here is no mistake of the command line
	case !errors.Is(err, os.ErrNotExist) && which != "last": // which training does not continue from
		return nil, fmt.Errorf("%w; put it back, or retrain the run (`tercet train %s %s %s %s`); checkpoint last does not depend on it", err, option.Name("resume"), r.Dir, option.Name("from"), Start)
	case !errors.Is(err, os.ErrNotExist):
		return nil, r.unusable(err)
	case r.Manifest.Pruned:
		return nil, fmt.Errorf("%s: %w; the run's weights were removed (tercet runs prune): `tercet train %s %s %s %s` trains it again", r.Dir, err, option.Name("resume"), r.Dir, option.Name("from"), Start)
	case which == "best" && s == record.Finished && r.Manifest.Best == nil:
		return nil, fmt.Errorf("%s: %w; the run was not evaluated during training, and has chosen no best checkpoint", r.Dir, err)
	case which == "best" && s == record.Finished:
		return nil, fmt.Errorf("%s: %w; it has been there: `tercet train %s %s %s %s` trains the run again", r.Dir, err, option.Name("resume"), r.Dir, option.Name("from"), Start)
	case s == record.Collapsed || s == record.Diverged:
		return nil, fmt.Errorf("%s: %w; the run has %s and has no such weights: %s", r.Dir, err, s, r.Manifest.Message)
	}
	return nil, fmt.Errorf("%s: %w; has the run been trained? `tercet train %s %s` continues it", r.Dir, err, option.Name("resume"), r.Dir)
}

// Loaded returns a checkpoint, its network, and the data of the run.
func (r *Run) Loaded(ctx context.Context, which string) (*train.Checkpoint, *nn.Model, *wire.Sets, error) {
	c, err := r.Checkpoint(which)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, nil, nil, err
	}
	if err := gpu.Attach(m); err != nil {
		return nil, nil, nil, err
	}
	sets, err := wire.OpenWith(ctx, r.Config, r.Elsewhere(data.Open), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	return c, m, sets, r.SameData(ctx, sets)
}

// Embed loads the run's network and embeds one of its sets: "test",
// "validation" or "train".
func (r *Run) Embed(ctx context.Context, which, set string, limit int, say progress.Say) (*Embedded, error) {
	c, m, sets, err := r.Loaded(ctx, which)
	if err != nil {
		return nil, err
	}
	ds, err := sets.Pick(set)
	if err != nil {
		return nil, err
	}
	ids, whole := embed.Spread(ds, limit), ds.Len()
	if ds, err = embed.Subset(ds, ids); err != nil {
		return nil, err
	}
	if whole == ds.Len() {
		whole = 0
	}
	start := time.Now()
	v, err := embed.Batches(ctx, m, ds, r.Config.Eval.Batch, say.Of("embed"))
	if err != nil {
		return nil, err
	}
	print, err := ds.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	return &Embedded{
		Run: r, Model: m, Data: ds, Items: ids, Vectors: v, Seconds: time.Since(start).Seconds(), Threshold: c.Threshold,
		Source: record.Source{
			Run: r.Dir, Config: r.Manifest.Config, Checkpoint: which, Step: c.State.Step, Set: set,
			Items: ds.Len(), Whole: whole, Classes: data.Distinct(ds.Labels()), Dim: m.Dim(), Fingerprint: print,
		},
	}, nil
}

// Omitted is the warning about images of the run's data that cannot be read; none where
// there are none.
func (r *Run) Omitted() []string {
	n := len(r.Manifest.Data.Broken)
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("images of the data that cannot be read and were left out: %d; manifest.json lists them", n)}
}
