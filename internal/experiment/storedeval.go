package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// Lacks says what d has and an evaluation by o of the same weights and images would
// not: scores, intervals, baselines, images, settings; nil if nothing.
func (d *EvalDoc) Lacks(o EvalOptions) []string {
	there := d.Options
	var ks []string
	for _, k := range there.Ks {
		if !slices.Contains(o.Ks, k) {
			ks = append(ks, fmt.Sprintf("recall@%d", k))
		}
	}
	var out []string
	if ks != nil {
		out = append(out, strings.Join(ks, ", "))
	}
	for _, part := range []struct {
		what    string
		had, is bool
	}{
		{"the clustering scores", there.KMeans, o.KMeans},
		{"the baselines", there.Baselines, o.Baselines},
		{"the scores of pairs", d.Pairs != nil && there.Threshold == nil, o.Pairs || o.Threshold != nil || d.ofLoss()},
		{"intervals", there.Bootstrap > 0, o.Bootstrap > 0},
	} {
		if part.had && !part.is {
			out = append(out, part.what)
		}
	}
	if o.Limit > 0 {
		out = append(out, lessOf(d.Source.Items, o.Limit, "images")...)
	}
	out = append(out, otherThan(there.Distance, o.Distance, "distance")...)
	if there.KMeans && o.KMeans {
		out = append(out, otherThan(there.K, o.K, "clusters")...)
		out = append(out, lessOf(there.NInit, o.NInit, "starts of k-means")...)
	}
	if there.Threshold != nil {
		out = append(out, otherThan(fmt.Sprint(*there.Threshold), thresholdWord(o.Threshold), "threshold")...) // with none, that of the loss, if any
	} else if d.ofLoss() && o.Threshold != nil {
		out = append(out, otherThan("of the loss", thresholdWord(o.Threshold), "threshold")...)
	}
	return append(out, otherThan(there.Seed, o.Seed, "seed")...)
}

// ofLoss reports whether the pairs are scored at the threshold of the run's loss.
func (d *EvalDoc) ofLoss() bool {
	return d.PairCounts != nil && d.PairCounts.At != nil && d.PairCounts.At.From == "loss"
}

func thresholdWord(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}

// StoredNoise reads a noise.json, as StoredAttack does.
func StoredNoise(path string) (*NoiseDoc, error) { return readKept[NoiseDoc](path, noiseSchema) }

// Lacks says what d has and an estimate from at most limit images, 0 for all, would not.
func (d *NoiseDoc) Lacks(limit int) []string {
	if d.Of != ofLabels || limit == 0 {
		return nil
	}
	return lessOf(d.Estimate.N, limit, "images")
}
