package solve

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/cluster/link"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// Margins is the threshold that a run's loss fixes, with the margins that it is the
// middle of, where its config has them.
type Margins struct{ Tau, Alpha, Beta float64 }

// Held is labeled data that a network was not trained on, or was.
type Held struct {
	data.Embeddings
	Source record.Source
}

// Thresholds is what a threshold can be taken from.
type Thresholds struct {
	Margins *Margins // nil where the loss fixes none
	// Held returns the data to fit to; nil where there are none.
	Held func(ctx context.Context) (*Held, error)
	seed uint64
	Say  progress.Say
}

// Resolve returns the link of kind squared or distance ("fitted" is the squared one,
// fitted), and where its threshold comes from.
func (t *Thresholds) Resolve(ctx context.Context, kind string, o record.ThresholdOptions) (link.Link, *record.ThresholdSource, []string, error) {
	from := o.From
	if from == FromAuto {
		from = FromFit
		if t.Margins != nil && kind != link.KindFitted {
			from = FromMargins
		}
	}
	if kind == link.KindFitted {
		kind = link.OnSquared
	}
	build := link.Squared
	if kind == link.OnDistance {
		build = link.Distance
	}
	src := &record.ThresholdSource{From: from}
	switch from {
	case FromValue:
		return build(o.Value, Natural(kind, o.Value, 0, 0)), src, nil, nil
	case FromMargins:
		m := t.Margins
		if m == nil {
			return link.Link{}, nil, nil, option.Errorf("the loss fixes no threshold, so there are no margins to take one from (triplet-capped and triplet-threshold do): give %s fit, or a distance", option.Name("threshold"))
		}
		src.Alpha, src.Beta = m.Alpha, m.Beta
		return build(m.Tau, Natural(kind, m.Tau, m.Alpha, m.Beta)), src, nil, nil
	}
	if t.Held == nil {
		return link.Link{}, nil, nil, option.Errorf("nothing says how near two items of one class are: give the distance, %s VALUE, or labeled held-out data to fit it to, %s FILE.npy %s FILE", option.Name("threshold"), option.Name("fit-embeddings"), option.Name("fit-labels"))
	}
	f, record, err := t.fit(ctx, kind, o)
	if err != nil {
		return link.Link{}, nil, nil, err
	}
	src.Fit = record
	tau := f.Threshold()
	if !(tau > 0) || math.IsInf(tau, 1) {
		return link.Link{}, nil, nil, fmt.Errorf("%w: the fit to %s predicts the same class at no distance (intercept %.4g, slope %.4g): give %s VALUE, or %s balanced", link.ErrInput, record.Set, f.Intercept, f.Slope, option.Name("threshold"), option.Name("fit-prior"))
	}
	return build(tau, -f.Slope), src, fitWarnings(record), nil
}

// fit makes a logistic regression on the held-out data.
func (t *Thresholds) fit(ctx context.Context, kind string, o record.ThresholdOptions) (*link.Fitted, *record.FitRecord, error) {
	h, err := t.Held(ctx)
	if err != nil {
		return nil, nil, err
	}
	name := h.Source.Set
	if name == "" {
		name = h.Source.Embeddings
	}
	t.Say("fit the threshold", 0, 1)
	f, err := link.Fit(ctx, h.X, h.N, h.D, h.Labels, link.FitOptions{On: kind, Balanced: o.Prior != "pairs", Seed: t.seed})
	if err != nil {
		return nil, nil, fmt.Errorf("the threshold cannot be fitted to %s: %w", name, err)
	}
	t.Say("fit the threshold", 1, 1)
	prior := o.Prior
	if prior == "" {
		prior = "balanced"
	}
	return f, &record.FitRecord{
		Set: name, Items: h.N, Fingerprint: h.Source.Fingerprint, On: kind, Prior: prior, Pairs: f.Pairs, Similar: f.Similar,
		Intercept: f.Intercept, Slope: f.Slope, Accuracy: f.Accuracy, AUC: f.AUC, Iterations: f.Iterations, Separable: f.Separable,
	}, nil
}

func fitWarnings(r *record.FitRecord) []string {
	var out []string
	if r.Set == "train" {
		out = append(out, "the threshold is fitted to training images, which lie closer together than others of their classes: it may be too low; data.split.validation holds images out for it")
	}
	if r.AUC < 0.75 {
		out = append(out, fmt.Sprintf("distances hardly separate pairs of one class from others (AUC %.2f on %s): no threshold will", r.AUC, r.Set))
	}
	return out
}

// AdjustLink lays the options over a link.
func AdjustLink(o *record.MulticutOptions, l link.Link) (link.Link, error) {
	if o.Scale > 0 {
		l.Scale = o.Scale
	}
	l.Clip = o.Clip
	if o.Bias > 0 {
		l.Bias = o.Bias
	}
	if err := l.Check(); err != nil {
		return l, option.Errorf("%v", err)
	}
	switch at := l.Threshold(); {
	case math.IsInf(at, 1):
		return l, option.Errorf("with %s %v and %s %v every pair is joined, however far apart: one cluster; give a bias nearer to 0.5", option.Name("bias"), o.Bias, option.Name("clip"), o.Clip)
	case !(at > 0):
		return l, option.Errorf("with %s %v no pair is near enough to be joined: every item would be a single-item cluster; give a bias nearer to 0.5, or a larger threshold", option.Name("bias"), o.Bias)
	}
	return l, nil
}

func linkRecord(l link.Link) *record.LinkRecord {
	_, _, ok, why := l.Factors()
	r := &record.LinkRecord{Kind: l.Kind, Tau: l.Tau, Scale: l.Scale, Clip: l.Clip, Bias: l.Bias, Factors: ok, Why: why}
	if r.Bias == 0 {
		r.Bias = .5
	}
	return r
}
