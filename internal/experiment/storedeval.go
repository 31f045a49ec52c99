package experiment

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
)

// LacksEval says what d has and an evaluation by o of the same weights and images would
// not: scores, intervals, baselines, images, settings; nil if nothing.
func LacksEval(d *record.Eval, o record.EvalOptions) []string {
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
		{"the scores of pairs", d.Pairs != nil && there.Threshold == nil, o.Pairs || o.Threshold != nil || pairsOfLoss(d)},
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
	} else if pairsOfLoss(d) && o.Threshold != nil {
		out = append(out, otherThan("of the loss", thresholdWord(o.Threshold), "threshold")...)
	}
	return append(out, otherThan(there.Seed, o.Seed, "seed")...)
}

// pairsOfLoss reports whether the pairs are scored at the threshold of the run's loss.
func pairsOfLoss(d *record.Eval) bool {
	return d.PairCounts != nil && d.PairCounts.At != nil && d.PairCounts.At.From == "loss"
}

func thresholdWord(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}

// StoredNoise reads a noise.json, as StoredAttack does.
func StoredNoise(path string) (*record.NoiseRate, error) {
	return readKept[record.NoiseRate](path, record.NoiseSchema)
}

// LacksNoise says what d has and an estimate from at most limit images, 0 for all, would not.
func LacksNoise(d *record.NoiseRate, limit int) []string {
	if d.Of != ofLabels || limit == 0 {
		return nil
	}
	return lessOf(d.Estimate.N, limit, "images")
}
