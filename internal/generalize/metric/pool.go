package metric

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/run/points"
	"tercet/internal/text"
	"tercet/internal/theory/measure"
	"tercet/internal/wire"
)

// pool is what samples are drawn from.
type pool struct {
	source measure.Source
	record record.MetricData
	held   record.Sizes
	size   record.Sizes
}

// most is the largest sample that leaves the held-out points; none for a distribution.
func (p *pool) most() record.Sizes {
	if p.size == (record.Sizes{}) {
		return record.Sizes{}
	}
	return record.Sizes{Pos: p.size.Pos - p.held.Pos, Neg: p.size.Neg - p.held.Neg}
}

// newPool makes the pool of a run's training images: of either side a quarter, at
// most mostReference, is put aside for the reference, and a third of the rest, at most
// mostHeld, is held out in each draw.
func newPool(ctx context.Context, r *run.Run, o Options, say progress.Say) (*pool, error) {
	if o.Circle {
		return &pool{
			source: measure.Circle{}, held: record.Sizes{Pos: mostHeld, Neg: mostHeld},
			record: record.MetricData{Name: "circle", Positives: "uniform on the unit circle", Negatives: "the same", Dims: 2, Radius: 1},
		}, nil
	}
	f, print, err := features(ctx, r, o.Checkpoint, say)
	if err != nil {
		return nil, err
	}
	pos, neg, words, err := sides(r, f, o.Positive)
	if err != nil {
		return nil, err
	}
	all := record.Sizes{Pos: len(pos) / f.D, Neg: len(neg) / f.D}
	ref := record.Sizes{Pos: min(all.Pos/4, mostReference), Neg: min(all.Neg/4, mostReference)}
	radius := r.Config.Radius()
	drawn, err := measure.NewPool(pos, neg, f.D, radius, ref, o.Seed)
	if err != nil {
		return nil, misfit(err)
	}
	size := drawn.Size()
	return &pool{
		source: drawn, size: size, held: record.Sizes{Pos: max(2, min(size.Pos/3, mostHeld)), Neg: max(1, min(size.Neg/3, mostHeld))},
		record: record.MetricData{
			Name: dataName(r.Config), Positives: words, Negatives: "all other classes", Dims: f.D, Radius: radius,
			Pool: &size, Reference: &ref, Fingerprint: print, Run: r.Dir,
		},
	}, nil
}

// dataName is the data set's, or that of the folder where it is one of images.
func dataName(c *config.Config) string {
	if s, ok := c.Data.Options.(data.Titled); ok && s.Title() != "" {
		return s.Title()
	}
	return c.Data.Name
}

// features are the training images under the run's frozen map.
func features(ctx context.Context, r *run.Run, checkpoint string, say progress.Say) (*points.Features, string, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, "", err
	}
	m, err := c.LoadModel()
	if err != nil {
		return nil, "", err
	}
	if m, err = points.Euclidean(m); err != nil {
		return nil, "", err
	}
	sets, err := wire.OpenWith(ctx, r.Config, r.Elsewhere(data.Open), nil)
	if err != nil {
		return nil, "", err
	}
	if err := r.SameData(ctx, sets); err != nil {
		return nil, "", err
	}
	z, err := embed.Batches(ctx, m, sets.Train, r.Config.Eval.Batch, say.Of("features"))
	if err != nil {
		return nil, "", err
	}
	print, err := sets.Train.Fingerprint(ctx)
	return points.Of(z, sets.Train), print, err
}

// sides parts points into those of the classes that positive names, as a name or a
// pattern, and all others; empty takes the run's own class. words say which they are.
func sides(r *run.Run, f *points.Features, positive string) (pos, neg []float64, words string, err error) {
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
			return nil, nil, "", &config.Error{Key: option.Name("positive"), Msg: fmt.Sprintf("%q is not a pattern: %v", positive, err)}
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
		return nil, nil, "", points.UnknownClass(positive, f, starts)
	case len(named) == 1:
		words = named[0]
	case len(named) <= 3:
		words = strings.Join(named, ", ")
	default:
		words = fmt.Sprintf("%s, %d classes", positive, len(named))
	}
	return pos, neg, fmt.Sprintf("class %s (%s)", words, text.Plural(len(pos)/f.D, "item", "items")), nil
}
