package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/nn/gpu"
	"tercet/internal/fsx"
	"tercet/internal/names"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/safetensors"
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
// "validation" or "train". A limit above 0 takes so many items, spread over the set.
func (r *Run) Embed(ctx context.Context, which, set string, limit int, say progress.Say) (*Embedded, error) {
	e, err := r.toEmbed(ctx, which, set, limit)
	if err == nil {
		err = e.compute(ctx, say)
	}
	if err == nil {
		err = e.identify(ctx)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// EmbedShared is Embed of a whole set for commands that are divided into tasks: the first
// that ends writes the embeddings to a file, and later ones read them there. program is the
// version of the program. A file with embeddings of anything else is replaced. Where the file
// cannot be written, p.Note says so.
func (r *Run) EmbedShared(ctx context.Context, which, set, path, program string, p progress.Progress) (*Embedded, error) {
	e, err := r.toEmbed(ctx, which, set, 0)
	if err == nil {
		err = e.identify(ctx)
	}
	if err != nil {
		return nil, err
	}
	of := e.Source
	of.Run = "" // as one of several paths
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	meta := map[string]string{"source": string(text), "program": program, "kernel": kernel.Setting()}
	if e.read(path, meta) {
		return e, nil
	}
	if err := e.compute(ctx, p.Say); err != nil {
		return nil, err
	}
	// Another task may be writing the same. Without the file each computes its own.
	err = fsx.Write(path, 0o644, func(w io.Writer) error {
		return safetensors.WriteSealed(w, &safetensors.File{Meta: meta, Tensors: []safetensors.Tensor{
			{Name: sharedName, Shape: []int{e.Vectors.Rows(), e.Vectors.Cols()}, Data: e.Vectors.Data},
		}})
	})
	if err != nil {
		p.Note("warning: the embeddings were not kept, so each task computes them: %v", err)
	}
	return e, nil
}

// sharedName is the tensor of a shared file.
const sharedName = "embeddings"

// read takes the embeddings of a shared file, if it has them.
func (e *Embedded) read(path string, meta map[string]string) bool {
	f, err := safetensors.ReadFile(path)
	if err != nil || !f.Sealed {
		return false
	}
	for key, v := range meta {
		if f.Meta[key] != v {
			return false
		}
	}
	t := f.Find(sharedName)
	if t == nil || !slices.Equal(t.Shape, []int{e.Data.Len(), e.Model.Dim()}) {
		return false
	}
	e.Vectors, err = array.Of(t.Data, t.Shape...)
	return err == nil
}

// compute forms the embeddings.
func (e *Embedded) compute(ctx context.Context, say progress.Say) error {
	start := time.Now()
	var err error
	e.Vectors, err = embed.Batches(ctx, e.Model, e.Data, e.Run.Config.Eval.Batch, say.Of("embed"))
	e.Seconds = time.Since(start).Seconds()
	return err
}

// identify adds the data's fingerprint to the source.
func (e *Embedded) identify(ctx context.Context) (err error) {
	e.Source.Fingerprint, err = e.Data.Fingerprint(ctx)
	return err
}

// toEmbed opens what is embedded.
func (r *Run) toEmbed(ctx context.Context, which, set string, limit int) (*Embedded, error) {
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
	return &Embedded{
		Run: r, Model: m, Data: ds, Items: ids, Threshold: c.Threshold,
		Source: record.Source{
			Run: r.Dir, Config: r.Manifest.Config, Checkpoint: which, Step: c.State.Step, Set: set,
			Items: ds.Len(), Whole: whole, Classes: data.Distinct(ds.Labels()), Dim: m.Dim(),
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
