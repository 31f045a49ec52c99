package eval

import (
	"math"
	"slices"

	"tercet/internal/cli/base"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/run"
)

func (o options) counts() error {
	for i, k := range o.ks {
		if k < 1 || slices.Contains(o.ks[:i], k) {
			return base.Usagef("--k is %v; give each k once, at least 1", o.ks)
		}
	}
	if t := o.threshold; o.changed("threshold") && (!(t > 0) || math.IsInf(t, 0)) {
		return base.Usagef("--threshold is %v; give a distance above 0", t)
	}
	for i, f := range o.fmr {
		if !(f > 0 && f < 1) || slices.Contains(o.fmr[:i], f) {
			return base.Usagef("--fmr is %v; give each rate once, above 0 and below 1", o.fmr)
		}
	}
	if o.intervals == record.ByClass && o.changed("bootstrap") && o.bootstrap == 0 {
		return base.Usagef("--intervals classes: --bootstrap 0 gives no intervals; leave it out, or give at least %d", metric.MinResamples)
	}
	if given := base.Given(o.changed, "clusters", "n-init"); given != "" && o.noKMeans {
		return base.Usagef("%s: only for k-means, which --no-kmeans leaves out", given)
	}
	if o.noBaselines && o.Run == "" {
		return base.Usagef("--no-baselines is for runs: embeddings of a file have no baselines")
	}
	return base.CheckResamples(o.bootstrap)
}

// measuredGates reads --fail-under and refuses scores that will not be measured.
func (o options) measuredGates() ([]base.Gate, error) {
	list, err := o.Gates()
	if err != nil || len(list) == 0 {
		return list, err
	}
	ks, threshold := o.ks, o.changed("threshold")
	if o.Run != "" {
		r, err := o.Open()
		if err != nil {
			return nil, err
		}
		ks = o.settings(evaluate.Defaults(r.Config)).Ks
		if !threshold {
			if threshold, err = evaluate.ClassifiesPairs(r, o.Checkpoint); err != nil {
				return nil, base.RunError(err)
			}
		}
	}
	keys := run.RetrievalKeys(ks)
	if o.lists != "" {
		return list, base.KnownGates(list, run.KeysOf(metric.ListScores(ks, o.Labels != "", true)))
	}
	if !o.noKMeans {
		keys = append(keys, run.ClusteringKeys()...)
	}
	if threshold || o.pairs || len(o.fmr) > 0 {
		keys = append(keys, run.PairKeys(threshold, o.fmr...)...)
	}
	return list, base.KnownGates(list, keys)
}

func (o options) settings(base record.EvalOptions) record.EvalOptions {
	for flag, set := range map[string]func(){
		"k":         func() { base.Ks = o.ks },
		"bootstrap": func() { base.Bootstrap = o.bootstrap },
		"clusters":  func() { base.K = o.kmeans },
		"n-init":    func() { base.NInit = o.nInit },
		"seed":      func() { base.Seed = o.seed },
		"pairs":     func() { base.Pairs = o.pairs },
		"per-query": func() { base.PerQuery = o.perQuery },
		"per-class": func() { base.PerClass = o.perClass },
		"fmr":       func() { base.FMR = o.fmr },
		"threshold": func() { base.Threshold = &o.threshold },
	} {
		if o.changed(flag) {
			set()
		}
	}
	base.Distance, base.Limit = o.distance, o.Limit
	if o.intervals == record.ByClass {
		base.Intervals = record.ByClass
	}
	if o.changed("intervals") && !o.changed("bootstrap") && base.Bootstrap == 0 {
		base.Bootstrap = o.bootstrap // intervals were asked for, and the run's config has none
	}
	base.KMeans = !o.noKMeans
	base.Baselines = base.Baselines && !o.noBaselines
	return base
}
