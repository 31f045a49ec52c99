package generalize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/mahalanobis"
	"tercet/internal/engine/nn"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/run"
	"tercet/internal/text"
	measuring "tercet/internal/theory/measure"
	"tercet/internal/wire"
)

// MetricOptions say what is measured of a run of model mahalanobis; the zero value takes
// the defaults.
type MetricOptions struct {
	// Sizes are the n = n+ = n- that samples have; none takes 20, 40, 80, 160.
	Sizes []int
	// Claim is a statement of the theory to put to the test, such as T3 or S1; empty
	// measures what the run learned with.
	Claim string
	// Positive names the positives' classes, or is a pattern such as Latin.*; empty takes
	// those of the run.
	Positive string
	Delta    float64 // the bounds on gaps hold with probability 1 - delta; 0 is 0.01
	Circle   bool    // with a Claim: on the unit circle in place of the run's images
	// Exact has the table's numbers in full, for csv and json.
	Exact bool
}

// Defaults of measurements of metrics.
const (
	metricDelta    = 0.01
	metricTriples  = 5 // (i, j, k) replaced in a repeat for on-average stability
	metricReplaced = 2 // samples of each side replaced in a repeat for uniform stability
	mostHeld       = 500
	mostReference  = 1000
)

// MetricStability is what was measured of a run of model mahalanobis.
type MetricStability struct {
	measuring.Document
	file  string
	exact bool
}

// File is stability.json, gap.json or, of a claim, stability/CLAIM.json; CLAIM-circle.json on
// the circle.
func (d *MetricStability) File() string { return d.file }

// Cautions are none: notes stand below the table.
func (d *MetricStability) Cautions() []string { return nil }

func (d *MetricStability) study() *report.StabilityStudy {
	return report.StabilityOf(report.StabilityDocument{File: d.file, Document: d.Document})
}

// Table has a row for each setting; of a claim, one for each series.
func (d *MetricStability) Table() *render.Table {
	layout := report.StabilityLayout{Settings: d.Claim == "", Exact: d.exact}
	return d.study().Table(layout)
}

// Draw draws measurements, bounds and rates.
func (d *MetricStability) Draw(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return d.study().Curves(filepath.Join(dir, "stability"))
}

// metricStability measures a run whose metric is fitted: samples are drawn from its
// training images, by true labels and under its own frozen map, and learned from anew.
func metricStability(ctx context.Context, r *run.Run, o Options, p progress.Progress) (*MetricStability, error) {
	start := time.Now()
	doc := &MetricStability{file: o.Job + ".json", exact: o.Metric.Exact}
	keep := newMetricKeeper(r, p)
	done := func(what string, n measuring.Sizes, e measuring.Estimate) {
		p.Note("%s, n+ = %d, n- = %d: %.4g (%s)", what, n.Pos, n.Neg, e.Value, text.Plural(e.N, "repeat", "repeats"))
	}
	switch o.Job {
	case MeasureStability, MeasureGap:
	default:
		return nil, fmt.Errorf("%w: %s is of model %s: tercet stability says how far one item moves it", data.ErrUnfit, r.Dir, r.Config.Model.Name)
	}
	src, err := metricSource(ctx, r, o, p.Say)
	if err != nil {
		return nil, keep.ended(ctx, err)
	}
	if o.Metric.Claim != "" {
		claim, err := measuring.ClaimOf(o.Metric.Claim)
		if err != nil {
			return nil, inMetric(err)
		}
		name := claim.ID
		if o.Metric.Circle {
			name += "-circle"
		}
		doc.file = filepath.Join("stability", name+".json")
		asked := measuring.OptionsRecord{Repeats: o.claimRepeats(), Delta: o.Metric.delta(), Triplets: o.Triplets}
		if err := keepMetric(r, doc.file, measuring.Document{Data: src.record, Seed: o.Seed, Options: &asked}, o); err != nil {
			return nil, err
		}
		d, err := claim.Test(ctx, measuring.Study{
			Source: src.source, Data: src.record, Zeta: claimZeta, Repeats: o.claimRepeats(), Most: src.most(), Held: src.held,
			Delta: o.Metric.delta(), Triplets: o.Triplets, Seed: o.Seed, Done: done, Keep: keep,
		})
		if err != nil {
			return nil, keep.ended(ctx, err)
		}
		d.Seconds += keep.spared
		doc.Document = *d
		return doc, os.MkdirAll(r.Path("stability"), 0o755)
	}
	learner, err := metricLearner(r)
	if err != nil {
		return nil, err
	}
	so := measuring.SweepOptions{
		Source: src.source, Learner: learner, Repeats: o.Repeats, Replaced: metricReplaced, Fresh: 1, Triples: metricTriples,
		Triplets: o.Triplets, Held: src.held, Delta: o.Metric.delta(), Seed: o.Seed, Done: done, Keep: keep,
	}
	for _, n := range o.Metric.sizes() {
		so.Sizes = append(so.Sizes, measuring.Sizes{Pos: n, Neg: n})
	}
	doc.Document = measuring.Document{Schema: record.MetricSchema, Says: "stability", Data: src.record, Seed: o.Seed}
	doc.Options = &measuring.OptionsRecord{Repeats: o.Repeats, Sizes: o.Metric.sizes(), Delta: o.Metric.delta(), Triplets: o.Triplets}
	if err := keepMetric(r, doc.file, doc.Document, o); err != nil {
		return nil, err
	}
	if o.Job == MeasureGap {
		doc.Says = "generalization gap"
		doc.Series, err = measuring.Gaps(ctx, so)
	} else {
		doc.Series, err = measuring.Stability(ctx, so)
	}
	doc.Seconds = time.Since(start).Seconds() + keep.spared
	return doc, keep.ended(ctx, err)
}

// claimZeta is the zeta of the losses that claims are tested with, as the reference has.
const claimZeta = 0.1

// inMetric gives errors of what was asked for the exit code of data that do not fit.
func inMetric(err error) error {
	if errors.Is(err, measuring.ErrInput) || errors.Is(err, mahalanobis.ErrInput) {
		return fmt.Errorf("%w: %w", data.ErrUnfit, err)
	}
	return err
}

func (o MetricOptions) delta() float64 {
	if o.Delta == 0 {
		return metricDelta
	}
	return o.Delta
}

func (o MetricOptions) sizes() []int {
	if len(o.Sizes) == 0 {
		return []int{20, 40, 80, 160}
	}
	return o.Sizes
}

// claimRepeats are none of a claim that has its own number.
func (o Options) claimRepeats() int {
	if o.OwnRepeats {
		return 0
	}
	return o.Repeats
}

// metricLearner is how the run learned, for samples of any size.
func metricLearner(r *run.Run) (measuring.Learner, error) {
	c, m := r.Config.Metric, r.Config.Model.Options.(nn.MahalanobisKeys)
	l, err := mahalanobis.NewLoss(c.Loss, c.Zeta, c.HuberDelta)
	if err != nil {
		return nil, wire.InConfig("metric", err)
	}
	switch o := c.Options.(type) {
	case mahalanobis.RRMKeys:
		return measuring.RRM{Loss: l, Sigma: measuring.Scale{Factor: o.Sigma}, Prior: o.Prior, Method: o.Method, Sums: o.Sums, Tol: o.Tol}, nil
	case mahalanobis.SGDKeys:
		a := measuring.SGD{Loss: l, C: o.C.N, PSD: o.PSD, Radius: m.Radius, Steps: measuring.Scale{Factor: 2, Power: 1}} // auto: as many as items
		if o.Steps.Given {
			a.Steps = measuring.Scale{Factor: o.Steps.N}
		}
		k, err := l.Constants(m.Radius, o.Constants)
		if err != nil {
			return nil, wire.InConfig("metric", err)
		}
		if !o.C.Given {
			a.C = 2 / k.Alpha
		}
		if !(a.C > 0) || math.IsInf(k.Alpha, 0) {
			return nil, &config.Error{Key: "metric.loss", Msg: fmt.Sprintf("%s is not smooth: the stability of SGD with it is not bounded by the theory, and is not measured", c.Loss)}
		}
		return a, nil
	}
	return nil, fmt.Errorf("metric.algorithm: %T is not measured", c.Options)
}

// metricPool is what samples are drawn from.
type metricPool struct {
	source measuring.Source
	record measuring.DataRecord
	held   measuring.Sizes
	size   measuring.Sizes
}

// most is the largest sample that leaves the held-out points; none for a distribution.
func (p *metricPool) most() measuring.Sizes {
	if p.size == (measuring.Sizes{}) {
		return measuring.Sizes{}
	}
	return measuring.Sizes{Pos: p.size.Pos - p.held.Pos, Neg: p.size.Neg - p.held.Neg}
}

// metricSource makes the pool of a run's training images: of either side a quarter, at
// most mostReference, is put aside for the reference, and a third of the rest, at most
// mostHeld, is held out in each draw.
func metricSource(ctx context.Context, r *run.Run, o Options, say progress.Say) (*metricPool, error) {
	if o.Metric.Circle {
		return &metricPool{
			source: measuring.Circle{}, held: measuring.Sizes{Pos: mostHeld, Neg: mostHeld},
			record: measuring.DataRecord{Name: "circle", Positives: "uniform on the unit circle", Negatives: "the same", Dims: 2, Radius: 1},
		}, nil
	}
	f, print, err := metricFeatures(ctx, r, o.Checkpoint, say)
	if err != nil {
		return nil, err
	}
	pos, neg, words, err := sides(r, f, o.Metric.Positive)
	if err != nil {
		return nil, err
	}
	all := measuring.Sizes{Pos: len(pos) / f.D, Neg: len(neg) / f.D}
	ref := measuring.Sizes{Pos: min(all.Pos/4, mostReference), Neg: min(all.Neg/4, mostReference)}
	radius := r.Config.Model.Options.(nn.MahalanobisKeys).Radius
	pool, err := measuring.NewPool(pos, neg, f.D, radius, ref, o.Seed)
	if err != nil {
		return nil, inMetric(err)
	}
	size := pool.Size()
	return &metricPool{
		source: pool, size: size, held: measuring.Sizes{Pos: max(2, min(size.Pos/3, mostHeld)), Neg: max(1, min(size.Neg/3, mostHeld))},
		record: measuring.DataRecord{
			Name: dataName(r.Config), Positives: words, Negatives: "all other classes", Dims: f.D, Radius: radius,
			Pool: &size, Reference: &ref, Fingerprint: print, Run: r.Dir,
		},
	}, nil
}

// dataName is the data set's, or that of the folder where it is one of images.
func dataName(c *config.Config) string {
	if s, ok := c.Data.Options.(data.FolderOptions); ok && s.Root != "" {
		return filepath.Base(s.Root)
	}
	return c.Data.Name
}

// metricFeatures are the training images under the run's frozen map.
func metricFeatures(ctx context.Context, r *run.Run, checkpoint string, say progress.Say) (*run.Features, string, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, "", err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, "", err
	}
	if m, err = run.Euclidean(m); err != nil {
		return nil, "", err
	}
	sets, err := wire.OpenWith(r.Config, r.Elsewhere(data.Open), nil)
	if err != nil {
		return nil, "", err
	}
	if err := r.SameData(sets); err != nil {
		return nil, "", err
	}
	z, err := embed.Batches(ctx, m, sets.Train, r.Config.Eval.Batch, func(done, total int) { say("features", done, total) })
	if err != nil {
		return nil, "", err
	}
	return run.FeaturesOf(z, sets.Train), sets.Train.Fingerprint(), nil
}

// sides parts points into those of the classes that positive names, as a name or a
// pattern, and all others; empty takes the run's own class. words say which they are.
func sides(r *run.Run, f *run.Features, positive string) (pos, neg []float64, words string, err error) {
	if positive == "" {
		if positive = r.Config.Metric.OneClass(); positive == "" {
			return nil, nil, "", &config.Error{Key: "metric.positive", Msg: "is each, and stability is measured of one class against the rest: name it by " + option.Name("positive") + " CLASS, or several by a pattern such as " + option.Name("positive") + " 'Latin.*'"}
		}
	}
	var named []string
	is := make([]bool, len(f.Classes))
	for c, name := range f.Classes {
		matched, err := path.Match(positive, name)
		if err != nil {
			return nil, nil, "", &config.Error{Key: option.Name("positive"), Msg: fmt.Sprintf("%q is no pattern: %v", positive, err)}
		}
		if is[c] = matched || name == positive; is[c] && slices.Contains(f.Labels, int32(c)) {
			named = append(named, name)
		}
	}
	for i, l := range f.Labels {
		if x := f.X[i*f.D : (i+1)*f.D]; is[l] {
			pos = append(pos, x...)
		} else {
			neg = append(neg, x...)
		}
	}
	switch {
	case len(named) == 0:
		_, starts := f.ByClass()
		return nil, nil, "", run.UnknownClass(positive, f, starts)
	case len(named) == 1:
		words = named[0]
	case len(named) <= 3:
		words = strings.Join(named, ", ")
	default:
		words = fmt.Sprintf("%s, %d classes", positive, len(named))
	}
	return pos, neg, fmt.Sprintf("class %s (%s)", words, text.Plural(len(pos)/f.D, "item", "items")), nil
}
