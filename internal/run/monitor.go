package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/cluster"
	"tercet/internal/cluster/solve"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/kernel"
	"tercet/internal/metric"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// monitor makes t evaluate images while it trains, and choose its best checkpoint by
// them: by train.early_stop.metric, or recall@1 where none is named; a run on pairs is
// also evaluated by pairs, and by default its best checkpoint by pair_accuracy. The
// images are the validation set, or where there is none, or train.early_stop.on says so,
// the test set, which is said. Without either, the training loss decides. The record
// says which.
func monitor(cfg *config.Config, t *wire.Assembled, sets *wire.Sets, w Watch) (*record.Selection, error) {
	ds, split, key := sets.Validation, "validation", cfg.Train.EarlyStop.Metric
	if ds == nil || StopsOnTest(cfg, true) {
		ds, split = sets.Test, names.Test
	}
	if ds == nil {
		return withoutImages(cfg, t, key)
	}
	var p *pairMeasure
	if t.Tuples != nil {
		held, _, err := wire.EvalPairs(cfg, ds)
		if err != nil {
			return nil, err
		}
		p = &pairMeasure{cfg, held}
		if key == "" && held != nil {
			key = heldAccuracy
		}
	}
	if key == "" {
		key = "retrieval.recall@1"
	}
	m, err := newMeasure(cfg, key)
	if err != nil {
		return nil, err
	}
	m.pairs, m.split = p, split
	if err := embed.TwoClasses(ds.Labels()); err != nil {
		return nil, fmt.Errorf("%s set: %w%s", split, err, sets.HoldOutHint(split))
	}
	if m.set, err = embed.Sample(ds, cfg.Train.EvalSamples); err != nil {
		return nil, err
	}
	if err := embed.Findable(m.set.Labels()); err != nil {
		return nil, fmt.Errorf("%s set: %w", split, err)
	}
	t.Stop.Metric, t.Evaluated = m.key, split
	t.Evaluate = func(ctx context.Context) (map[string]float64, error) { return m.evaluate(ctx, t) }
	if key == trainAccuracy {
		return selectionOf(cfg, "train", key), nil
	}
	record := selectionOf(cfg, split, m.key)
	switch {
	case record.Note == "":
	case sets.Validation == nil:
		w.note("no validation set: %s, as in published protocols; data.split.validation holds out training images instead", record.Note)
	default:
		w.note("%s", record.Note)
	}
	return record, nil
}

// withoutImages is monitor where there are neither validation nor test images.
func withoutImages(cfg *config.Config, t *wire.Assembled, key string) (*record.Selection, error) {
	switch key {
	case "":
		return selectionOf(cfg, "train", "loss"), nil
	case trainAccuracy:
		t.Stop.Metric, t.Evaluated = key, "train"
		t.Evaluate = func(ctx context.Context) (map[string]float64, error) {
			return (&pairMeasure{cfg: cfg}).evaluate(ctx, t)
		}
		return selectionOf(cfg, "train", key), nil
	}
	return nil, fmt.Errorf("%w: train.early_stop.metric %s is measured on validation or test images, and these data have none; set data.split.validation", data.ErrUnfit, key)
}

// measure is what is measured of a network during training: recall@1, MAP@R and
// the key that decides.
type measure struct {
	cfg        *config.Config
	set        data.Dataset
	split      string // that set is of
	key        string // without its section
	ks         []int
	clustering bool
	pairs      *pairMeasure // of a run on pairs, else nil
}

// errorScore is the score that falls as a network gets better.
const errorScore = "triplet_error"

// newMeasure returns the measure that includes key, such as retrieval.recall@4
// or clustering.nmi.
func newMeasure(cfg *config.Config, key string) (*measure, error) {
	section, name, _ := strings.Cut(key, ".")
	m := &measure{cfg: cfg, key: name, ks: []int{1}, clustering: section == "clustering"}
	if key == heldAccuracy || key == trainAccuracy {
		m.key = key
		return m, nil
	}
	if k, ok := strings.CutPrefix(name, "recall@"); ok && !m.clustering {
		if n, err := strconv.Atoi(k); err == nil && n > 1 {
			m.ks = append(m.ks, n)
		}
	}
	keys := ClusteringKeys()
	if !m.clustering {
		keys = RetrievalKeys(m.ks)
	}
	if name == errorScore {
		return nil, &config.Error{Key: "train.early_stop.metric", Msg: name + " falls as a network gets better, and the highest value counts as the best: name a score that rises, such as retrieval.recall@1"}
	}
	if !slices.Contains(keys, name) {
		valid := slices.DeleteFunc(keys, func(key string) bool { return key == errorScore })
		return nil, &config.Error{Key: "train.early_stop.metric", Msg: fmt.Sprintf("%s has no score %q; it has %s", section, name, strings.Join(valid, ", "))}
	}
	return m, nil
}

// scores measures v; for the clustering ones k-means makes k clusters.
func (m *measure) scores(ctx context.Context, v data.Embeddings, k int) (record.Scores, error) {
	if m.clustering {
		km, err := solve.RunKMeans(ctx, v, cluster.KMeansOptions{K: k, Restarts: m.cfg.Eval.KMeans.NInit, Seed: m.cfg.Seed}, func(string, int, int) {})
		if err != nil {
			return nil, err
		}
		return solve.Scores(v.Labels, km.Labels)
	}
	r, err := embed.Retrieve(ctx, v, data.RolesOf(m.set), metric.RetrievalOptions{K: m.ks, Intervals: metric.Intervals{Resamples: -1}})
	if err != nil {
		return nil, err
	}
	return r.Scores, nil
}

// evaluate measures t's network as it is.
func (m *measure) evaluate(ctx context.Context, t *wire.Assembled) (map[string]float64, error) {
	z, err := embed.Batches(ctx, t.Model, m.set, m.cfg.Eval.Batch, func(int, int) {})
	if err != nil {
		return nil, err
	}
	if i, ok := kernel.AllFinite(z.Data); !ok {
		return nil, &train.NonFiniteError{Step: t.State.Step, Tensor: "embeddings of " + m.split + " images", Index: i, Cause: train.CauseRate}
	}
	v := data.Embeddings{X: z.Data, N: z.Rows(), D: z.Cols(), Labels: m.set.Labels()}
	base := *m
	base.clustering = false
	got, err := base.scores(ctx, v, 0)
	if err == nil && m.clustering {
		var more record.Scores
		more, err = m.scores(ctx, v, m.cfg.Eval.KMeans.K)
		got = append(got, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluation at step %d: %w", t.State.Step, err)
	}
	out := map[string]float64{}
	if m.pairs != nil {
		if out, err = m.pairs.evaluate(ctx, t); err != nil {
			return nil, fmt.Errorf("evaluation at step %d: %w", t.State.Step, err)
		}
	}
	for _, key := range []string{"recall@1", "map@r", m.key} {
		if v, ok := got.Get(key); ok { // newMeasure has seen each that pairs have not
			out[key] = v.Value
		}
	}
	return out, nil
}
