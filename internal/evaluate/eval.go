package evaluate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/points"
	"tercet/internal/wire"
)

// Defaults are the options that a run's config asks for.
func Defaults(cfg *config.Config) record.EvalOptions {
	return record.EvalOptions{
		Ks: cfg.Eval.Ks, Distance: metric.Euclidean, Bootstrap: cfg.Eval.Bootstrap, KMeans: true,
		K: cfg.Eval.KMeans.K, NInit: cfg.Eval.KMeans.NInit, Seed: cfg.Seed, Baselines: cfg.Eval.Baselines, Batch: cfg.Eval.Batch,
	}
}

// Evaluation is a result document and what its pictures need.
type Evaluation struct {
	Doc       *record.Eval
	Embedded  *run.Embedded // nil where there was no run
	Retrieval *metric.Retrieval
	classes   func() ([]record.ClassScores, error) // those of each class
}

// Eval evaluates a run's embeddings of a set, and the baselines: raw pixels and the
// untrained network. It returns an error if the checkpoint or the data cannot be read, or
// if ctx ends.
func Eval(ctx context.Context, r *run.Run, checkpoint, set string, o record.EvalOptions, say progress.Say) (*Evaluation, error) {
	start := time.Now()
	e, err := r.Embed(ctx, checkpoint, set, o.Limit, say)
	if err != nil {
		return nil, err
	}
	doc := &record.Eval{Schema: record.EvalSchema, Source: e.Source, Options: o}
	v := data.Embeddings{X: e.Vectors.Data, N: e.Vectors.Rows(), D: e.Vectors.Cols(), Labels: e.Data.Labels()}
	j, ret, km, err := evaluateVectors(ctx, v, data.RolesOf(e.Data), o, say)
	if err != nil {
		return nil, err
	}
	doc.Evaluated = j
	keepValues(doc, ret)
	classes := func() ([]record.ClassScores, error) {
		return classScores(ret, v.Labels, e.Data.Classes()), nil
	}
	if err := keepClasses(doc, classes); err != nil {
		return nil, err
	}
	if err := verify(doc, ctx, v, data.RolesOf(e.Data), borderOf(r.Config, e.Threshold), say); err != nil {
		return nil, err
	}
	doc.Cost.Cost = record.Cost{Forward: int64(v.N)}
	if r.Config.LearnsMetric() {
		var warnings []string
		if doc.Metric, warnings, err = evaluateMetric(ctx, r, checkpoint, e.Model, e.Data, o.Limit, say); err != nil {
			return nil, err
		}
		doc.Warnings = append(doc.Warnings, warnings...)
	}
	if o.Baselines {
		var warnings []string
		if doc.Baselines, warnings, err = baselines(ctx, r, e, o, say); err != nil {
			return nil, err
		}
		doc.Warnings = append(doc.Warnings, warnings...)
		if _, ok := doc.Baselines["untrained"]; ok {
			doc.Cost.Forward += int64(v.N)
		}
		if size := pixelBytes(e.Data); size > mostPixels {
			doc.Warnings = append(doc.Warnings, fmt.Sprintf("baseline pixels is left out: the pixels of %d images take %.1f GiB, and it is scored up to %d", v.N, float64(size)/(1<<30), mostPixels>>30))
		}
		doc.Warnings = append(doc.Warnings, weak(doc)...)
	}
	doc.Warnings = append(doc.Warnings, Coarse(o)...)
	doc.Warnings = append(doc.Warnings, whole(o.Ks, others(doc, v.N))...)
	if what := r.Manifest.ChosenOnTest(checkpoint); set == "test" && what != "" {
		doc.Selection = what + " chosen on test images"
		doc.Warnings = append(doc.Warnings, "the "+what+" was chosen on test images, so these test scores are too good")
	}
	doc.Warnings = append(doc.Warnings, r.Omitted()...)
	if set == "train" {
		doc.Warnings = append(doc.Warnings, "evaluated on the training images: these scores carry no information about unseen data")
	}
	if km != nil {
		doc.Warnings = append(doc.Warnings, km.Warnings...)
	}
	doc.Cost.Seconds = time.Since(start).Seconds()
	return &Evaluation{doc, e, ret, classes}, nil
}

// mostPixels bounds the bytes of the raw pixels that are scored as a baseline: those of
// large images would need far more memory than the evaluation itself.
const mostPixels = 1 << 30

func pixelBytes(ds data.Dataset) int64 {
	h, w, c := ds.Shape()
	return 4 * int64(ds.Len()) * int64(h*w*c)
}

// baseline is what an embedding has to beat.
type baseline struct {
	name string
	x    *array.Array
}

// baselines scores raw pixels and the network with its first weights, those of
// model.weights if it began with them, by the same options. A fitted metric begins as
// Euclid's, on the same features. Where the weights are gone, a warning says it.
func baselines(ctx context.Context, r *run.Run, e *run.Embedded, o record.EvalOptions, say progress.Say) (out map[string]record.Evaluated, warnings []string, err error) {
	ds := e.Data
	o.Neighbors = 0
	out = map[string]record.Evaluated{}
	list := []baseline{}
	if pixelBytes(ds) <= mostPixels {
		raw, err := embed.Pixels(ctx, ds)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, baseline{"pixels", raw})
	}
	m, err := beginning(r, e)
	if errors.Is(err, errOtherStart) {
		warnings, err = append(warnings, fmt.Sprintf("baseline untrained is left out: %v", err)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if m != nil {
		untrained, err := embed.Batches(ctx, m, ds, o.Batch, say.Of("untrained: embed"))
		if err != nil {
			return nil, nil, err
		}
		list = append(list, baseline{"untrained", untrained})
	}
	for _, b := range list {
		v := data.Embeddings{X: b.x.Data, N: b.x.Rows(), D: b.x.Cols(), Labels: ds.Labels()}
		j, _, _, err := evaluateVectors(ctx, v, data.RolesOf(ds), o, func(stage string, done, total int) { say(b.name+": "+stage, done, total) })
		if err != nil {
			return nil, nil, fmt.Errorf("baseline %s: %w", b.name, err)
		}
		out[b.name] = j
	}
	return out, warnings, nil
}

// errOtherStart is wrapped where the weights that training began with are gone.
var errOtherStart = errors.New("the run began with weights of a file")

// beginning is the network of a run before its first step.
func beginning(r *run.Run, e *run.Embedded) (*nn.Model, error) {
	if r.Config.LearnsMetric() {
		return points.Euclidean(e.Model)
	}
	m, start, err := wire.StartModel(r.Config, e.Data)
	switch was := r.Manifest.Start; {
	case err != nil && r.Config.Model.Weights != "":
		return nil, fmt.Errorf("%w, and %w", errOtherStart, err)
	case err == nil && was != nil && start != nil && start.SHA256 != was.SHA256:
		return nil, fmt.Errorf("%w, and %s is another file now: its SHA-256 is %s and was %s", errOtherStart, start.File, start.SHA256, was.SHA256)
	}
	return m, err
}

// weak warns where training has not beaten a baseline.
func weak(doc *record.Eval) []string {
	key := fmt.Sprintf("recall@%d", doc.Options.Ks[0])
	mine, ok := doc.Retrieval.Get(key)
	if !ok {
		return nil
	}
	var out []string
	for _, name := range []string{"pixels", "untrained"} {
		if base, ok := doc.Baselines[name].Retrieval.Get(key); ok && base.Value >= mine.Value {
			out = append(out, fmt.Sprintf("%s %.4f does not beat the baseline %s (%.4f)", key, mine.Value, name, base.Value))
		}
	}
	return out
}

// others is one more than a query has to find, at most.
func others(d *record.Eval, n int) int {
	if d.Gallery > 0 {
		return min(n, d.Gallery+1)
	}
	return n
}

// whole warns of a recall@k whose k is not below the number of other items.
func whole(ks []int, n int) []string {
	var out []string
	for _, k := range ks {
		if k >= n-1 {
			out = append(out, fmt.Sprintf("recall@%d is 1 by definition: each query has only %d other items", k, n-1))
		}
	}
	return out
}

// Coarse warns if there are too few resamples for precise 95 % intervals.
func Coarse(o record.EvalOptions) []string {
	if o.Bootstrap <= 0 || o.Bootstrap >= metric.MinResamples {
		return nil
	}
	return []string{fmt.Sprintf("the intervals are from %d resamples and mean little; give eval.bootstrap %d or more", o.Bootstrap, metric.MinResamples)}
}

// OfRetrieval makes the evaluation of files from retrieval results that were computed
// before. labels are those of the queries; gallery is the number of items that were
// searched, or 0 if queries and gallery are the same. The document has no time.
func OfRetrieval(src record.Source, o record.EvalOptions, ret *metric.Retrieval, labels []int32, gallery int) (*Evaluation, error) {
	o.Baselines = false
	doc := &record.Eval{Schema: record.EvalSchema, Source: src, Options: o}
	doc.Evaluated = record.Evaluated{Retrieval: ret.Scores, Excluded: ret.Excluded}
	if gallery > 0 {
		doc.Searched, doc.Gallery = len(labels), gallery
	}
	keepValues(doc, ret)
	classes := func() ([]record.ClassScores, error) { return classScores(ret, labels, nil), nil }
	if err := keepClasses(doc, classes); err != nil {
		return nil, err
	}
	doc.Warnings = append(doc.Warnings, Coarse(o)...)
	doc.Warnings = append(doc.Warnings, whole(o.Ks, others(doc, src.Items))...)
	return &Evaluation{Doc: doc, Retrieval: ret, classes: classes}, nil
}
