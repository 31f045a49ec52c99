package experiment

import (
	"context"
	"fmt"

	"tercet/internal/metric"
)

// verify judges v by its pairs: at the threshold of the options or else at that of
// the loss, and where there is neither, but pairs are asked for, without one.
func (d *EvalDoc) verify(ctx context.Context, v vectors, loss *float64, say Say) error {
	at, from := d.Options.Threshold, "option"
	if at == nil {
		at, from = loss, "loss"
	}
	if at == nil && !d.Options.Pairs {
		return nil
	}
	r, err := metric.Verify(ctx, v.x, v.n, v.d, v.labels, metric.VerificationOptions{
		Threshold: at,
		Progress:  func(done, total int) { say("pairs", done, total) },
	})
	if err != nil {
		return err
	}
	d.Pairs = r.Scores
	d.PairCounts = &PairRecord{Same: r.Same, Different: r.Different, EERThreshold: r.EERThreshold, AUCSlack: r.AUCSlack}
	if at == nil {
		return nil
	}
	d.PairCounts.At = &ThresholdRecord{*at, from, r.Accepted, r.Wrong}
	switch r.Accepted {
	case 0:
		d.Warnings = append(d.Warnings, fmt.Sprintf("no two items are within the threshold %.4g of each other: all pairs are called different", *at))
	case r.Same + r.Different:
		d.Warnings = append(d.Warnings, fmt.Sprintf("all items are within the threshold %.4g of each other: all pairs are called the same", *at))
	}
	return nil
}
