package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/train"
)

// embed returns the embeddings (N, D) of all items of ds, batch by batch.
func embed(ctx context.Context, m *nn.Model, ds data.Dataset, batch int, say func(done, total int)) (*array.Array, error) {
	h, w, c := ds.Shape()
	n := ds.Len()
	batch = min(batch, n)
	out := array.New(n, m.Dim())
	x := array.New(batch, h, w, c)
	ids := make([]int, 0, batch)
	for lo := 0; lo < n; lo += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids = ids[:0]
		for i := lo; i < min(lo+batch, n); i++ {
			ids = append(ids, i)
		}
		x.SetRows(len(ids))
		if err := data.Gather(ds, ids, x); err != nil {
			return nil, err
		}
		if lo == 0 {
			if err := m.CheckInput(x); err != nil {
				return nil, err
			}
		}
		copy(out.Data[lo*m.Dim():], m.Embed(x, nn.Eval).Data)
		say(min(lo+batch, n), n)
	}
	return out, nil
}

// pixels returns the raw images of ds as vectors (N, H*W*C): the baseline that
// an embedding has to beat.
func pixels(ds data.Dataset) (*array.Array, error) {
	h, w, c := ds.Shape()
	out := array.New(ds.Len(), h, w, c)
	ids := make([]int, ds.Len())
	for i := range ids {
		ids[i] = i
	}
	if err := data.Gather(ds, ids, out); err != nil {
		return nil, err
	}
	return array.Of(out.Data, ds.Len(), h*w*c)
}

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

// checkpoint reads the run's "last" or "best" checkpoint.
func (r *Run) checkpoint(which string) (*train.Checkpoint, error) {
	if which != "last" && which != "best" {
		return nil, fmt.Errorf("unknown checkpoint %q (valid: last, best)", which)
	}
	c, err := r.readCheckpoint(which)
	switch s := r.Manifest.Status; {
	case err == nil:
		return c, nil
	case errors.Is(err, ErrOtherRun):
		return nil, fmt.Errorf("%w: %v", ErrNoRun, err) // which here is no mistake of the command line
	case !errors.Is(err, os.ErrNotExist) && which == "best": // which training does not go on from
		return nil, fmt.Errorf("%w; put it back, or train the run anew (`tercet train --resume %s --from %s`); checkpoint last does not depend on it", err, r.Dir, Start)
	case !errors.Is(err, os.ErrNotExist):
		return nil, r.unusable(err)
	case s == record.Collapsed || s == record.Diverged:
		return nil, fmt.Errorf("%s: %w; the run has %s and has no such weights: %s", r.Dir, err, s, r.Manifest.Message)
	}
	return nil, fmt.Errorf("%s: %w; has the run been trained? `tercet train --resume %s` continues it", r.Dir, err, r.Dir)
}

// loaded returns a checkpoint, its network, and the data of the run.
func (r *Run) loaded(which string) (*train.Checkpoint, *nn.Model, *Sets, error) {
	c, err := r.checkpoint(which)
	if err != nil {
		return nil, nil, nil, err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, nil, nil, err
	}
	sets, err := openWith(r.Config, r.elsewhere(data.Open), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	return c, m, sets, r.sameData(sets)
}

// Embed loads the run's network and embeds one of its sets: "test",
// "validation" or "train".
func (r *Run) Embed(ctx context.Context, which, set string, limit int, say func(stage string, done, total int)) (*Embedded, error) {
	c, m, sets, err := r.loaded(which)
	if err != nil {
		return nil, err
	}
	ds, err := sets.pick(set)
	if err != nil {
		return nil, err
	}
	ids, whole := spread(ds, limit), ds.Len()
	if ds, err = subset(ds, ids); err != nil {
		return nil, err
	}
	if whole == ds.Len() {
		whole = 0
	}
	start := time.Now()
	v, err := embed(ctx, m, ds, r.Config.Eval.Batch, func(done, total int) { say("embed", done, total) })
	if err != nil {
		return nil, err
	}
	return &Embedded{
		Run: r, Model: m, Data: ds, Items: ids, Vectors: v, Seconds: time.Since(start).Seconds(), Threshold: c.Threshold,
		Source: record.Source{
			Run: r.Dir, Config: r.Manifest.Config, Checkpoint: which, Step: c.State.Step, Set: set,
			Items: ds.Len(), Whole: whole, Classes: distinct(ds.Labels()), Dim: m.Dim(), Fingerprint: ds.Fingerprint(),
		},
	}, nil
}

// leastPerClass is the number of items of a class below which sample takes fewer
// classes instead of fewer items: with less, most items would have next to none
// of their class to be found by.
const leastPerClass = 5

// sample takes at most limit items of ds: those of spread.
func sample(ds data.Dataset, limit int) (data.Dataset, error) {
	return subset(ds, spread(ds, limit))
}

// subset is that of the items ids, nil for all.
func subset(ds data.Dataset, ids []int) (data.Dataset, error) {
	if ids == nil {
		return ds, nil
	}
	return data.Subset(ds, ids)
}

// spread lists at most limit items of ds, in their order, evenly over the whole:
// the same number of each class, or, where that would be less than
// leastPerClass, some classes whole. It is nil where all are taken, as 0 asks for.
func spread(ds data.Dataset, limit int) []int {
	n := ds.Len()
	if limit <= 0 || limit >= n {
		return nil
	}
	var classes [][]int
	at := make([][]int, len(ds.Classes()))
	for i, y := range ds.Labels() {
		at[y] = append(at[y], i)
	}
	for _, items := range at {
		if len(items) > 0 {
			classes = append(classes, items)
		}
	}
	each, take := limit/len(classes), len(classes)
	if each < leastPerClass {
		each, take = n, min(take, max(2, limit*len(classes)/n))
	}
	var ids []int
	for c := range take {
		items := classes[c*len(classes)/take]
		m := min(each, len(items), limit-len(ids))
		for i := range m {
			ids = append(ids, items[i*len(items)/m])
		}
	}
	slices.Sort(ids)
	return ids
}
