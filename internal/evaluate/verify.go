package evaluate

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/embed"
	"tercet/internal/engine/loss"
	"tercet/internal/metric"
	"tercet/internal/progress"
	"tercet/internal/record"
)

// border is where a loss parts pairs: a Euclidean distance, or a cosine.
type border struct {
	distance *float64 // of embeddings, or of their unit vectors where there is a cosine
	cosine   *float64
}

// borderOf is that of cfg's loss where the checkpoint says no distance: the cosine
// above which the loss calls a pair similar, a distance of unit vectors.
func borderOf(cfg *config.Config, threshold *float64) border {
	o, ok := cfg.Loss.Options.(loss.PairPredictor)
	if !ok {
		return border{distance: threshold}
	}
	rule := o.PairRule()
	if !rule.Cosine || rule.Paper {
		return border{distance: threshold}
	}
	return border{new(math.Sqrt(2 - 2*rule.At)), &rule.At}
}

// verify evaluates v, whose items have roles or nil, by its pairs: at the threshold of the options or else at the border
// of the loss, and where there is neither, but pairs are asked for, without one.
func verify(d *record.Eval, ctx context.Context, v data.Embeddings, roles *data.Roles, of border, say progress.Say) error {
	at, from, cosine := d.Options.Threshold, "option", (*float64)(nil)
	if at == nil {
		at, from, cosine = of.distance, "loss", of.cosine
	}
	if cosine != nil {
		v = v.Unit()
	}
	if at == nil && !d.Options.ScoresPairs() {
		return nil
	}
	r, err := embed.Verify(ctx, v, roles, metric.VerificationOptions{
		Threshold: at, FMR: d.Options.FMR, Intervals: intervalsOf(v, roles, d.Options),
		Progress: say.Of("pairs"),
	})
	if err != nil {
		return err
	}
	d.Pairs = r.Scores
	d.PairCounts = &record.PairCounts{Same: r.Same, Different: r.Different, EERThreshold: r.EERThreshold, AUCSlack: r.AUCSlack}
	for _, p := range r.Points {
		d.PairCounts.Points = append(d.PairCounts.Points, record.PairPoint{FMR: p.FMR, Threshold: p.Threshold, Accepted: p.Matched + p.Falsely, Wrong: p.Falsely})
		if p.Threshold < 0 {
			d.Warnings = append(d.Warnings, fmt.Sprintf("no distance has a false match rate of %v or less: fnmr is 1 there", p.FMR))
		}
	}
	d.Distances = &record.PairDistances{Same: record.Distances(r.SameDistances), Different: record.Distances(r.DifferentDistances)}
	if roles == nil {
		d.Distances.Within = (*record.ClassDistances)(&r.Within)
	}
	if at == nil {
		return nil
	}
	d.PairCounts.At = &record.PairThreshold{Threshold: *at, Cosine: cosine, From: from, Accepted: r.Accepted, Wrong: r.Wrong}
	switch r.Accepted {
	case 0:
		d.Warnings = append(d.Warnings, fmt.Sprintf("no two items are within the threshold %.4g of each other: all pairs are called different", *at))
	case r.Same + r.Different:
		d.Warnings = append(d.Warnings, fmt.Sprintf("all items are within the threshold %.4g of each other: all pairs are called the same", *at))
	}
	return nil
}
