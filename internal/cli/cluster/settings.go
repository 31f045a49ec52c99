package cluster

import (
	"math"
	"strconv"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/solve"
	"tercet/internal/record"
)

// autoKs is what -k auto chooses from.
const autoKs = "2..20"

// clusterCount reads -k: a number, or several for the silhouette to choose from.
func (o *options) clusterCount() (k int, ks []int, err error) {
	text := o.k
	if text == "auto" {
		text = autoKs
	}
	bad := func() error {
		return base.Usagef("--clusters (-k) is %q; give a number, 0 for as many as classes, or for the silhouette to choose from: 2..20, 5,10,20 or auto", o.k)
	}
	if lo, hi, ok := strings.Cut(text, ".."); ok {
		a, errA := strconv.Atoi(lo)
		b, errB := strconv.Atoi(hi)
		if errA != nil || errB != nil || a < 2 || b < a || b-a > 10_000 {
			return 0, nil, bad()
		}
		for k := a; k <= b; k++ {
			ks = append(ks, k)
		}
		return 0, ks, nil
	}
	words := strings.Split(text, ",")
	for _, w := range words {
		k, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || k < 0 || len(words) > 1 && k < 2 {
			return 0, nil, bad()
		}
		ks = append(ks, k)
	}
	if len(ks) == 1 {
		return ks[0], nil, nil
	}
	return 0, ks, nil
}

// Thresholds whose squares, and costs made of them, are safe in float32.
const leastThreshold, mostThreshold = 1e-15, 1e15

// thresholdSource reads --threshold.
func (o *options) thresholdSource() (from string, value float64, err error) {
	switch o.threshold {
	case solve.FromAuto, solve.FromMargins, solve.FromFit:
		return o.threshold, 0, nil
	}
	v, err := strconv.ParseFloat(o.threshold, 64)
	if err != nil {
		return "", 0, base.Usagef("--threshold is %q; give a distance, or auto, margins or fit", o.threshold)
	}
	switch {
	case !(v > 0) || math.IsInf(v, 1):
		return "", 0, base.Usagef("--threshold is %v; a distance below which items belong together is above 0 and finite", v)
	case v < leastThreshold || v > mostThreshold:
		return "", 0, base.Usagef("--threshold is %v, which no embeddings are apart; give a distance from %v to %v", v, leastThreshold, mostThreshold)
	}
	return solve.FromValue, v, nil
}

// The words of --restarts, and what records have for them.
const restartsAuto, restartsNone = "auto", "none"

// restartCount reads --restarts: a number, 0 for auto, -1 for none.
func (o *options) restartCount() (int, error) {
	switch o.restarts {
	case restartsAuto:
		return 0, nil
	case restartsNone:
		return -1, nil
	}
	n, err := strconv.Atoi(o.restarts)
	if err != nil || n < 1 {
		return 0, base.Usagef("--restarts is %q; give a number of at least 1, none or auto", o.restarts)
	}
	return n, nil
}

// settings are the options of the method, which is no longer auto.
func (o *options) settings() (record.ClusterOptions, error) {
	c := record.ClusterOptions{Method: o.method, Seed: o.seed, NInit: o.nInit}
	from, value, err := o.thresholdSource()
	if err != nil {
		return c, err
	}
	threshold := record.ThresholdOptions{From: from, Value: value, Embeddings: o.fitX, Labels: o.fitY, LabelColumn: o.Column, Prior: o.fitPrior}
	var ks []int
	if c.K, ks, err = o.clusterCount(); err != nil {
		return c, err
	}
	if ks != nil && o.method != solve.KMeans {
		return c, base.Usagef("several -k are for k-means, whose silhouette chooses; %s takes one", o.method)
	}
	restarts, err := o.restartCount()
	if err != nil {
		return c, err
	}
	bytes := int64(o.matrix * (1 << 30))
	switch o.method {
	case solve.KMeans:
		c.KMeans = record.KMeansOptions{Ks: ks, Sample: o.sample, Spherical: o.spherical, MiniBatch: o.miniBatch}
		if o.miniBatch > 0 && !o.flags.Changed("n-init") {
			c.NInit = 3
		}
		if o.flags.Changed("silhouette-sample") && ks == nil {
			return c, base.Usagef("--silhouette-sample is for several -k, such as -k 2..20")
		}
	case solve.Multicut:
		c.Multicut = record.MulticutOptions{
			ThresholdOptions: threshold, Link: o.link, Scale: o.scale, Clip: o.clip, Bias: o.bias, Neighbors: o.near, Lists: o.lists, Random: o.random,
			Solver: o.solver, Starts: o.starts, Rounds: o.rounds, Restarts: restarts, MinSize: o.minSize, Bound: o.bound, Matrix: bytes, Alone: o.noComparison,
		}
		if o.graph != "" {
			c.NInit = 0
			c.Multicut = record.MulticutOptions{Solver: o.solver, Rounds: o.rounds, Restarts: restarts, Bound: o.bound, Alone: o.noComparison}
		}
	case solve.Agglomerative:
		c.NInit = 0
		c.Agglomerative = record.AgglomerativeOptions{Linkage: o.linkage, Memory: bytes}
		if o.flags.Changed("threshold") {
			c.Agglomerative.Cut, c.Agglomerative.Threshold = true, threshold
		}
	case solve.HDBSCAN:
		c.NInit = 0
		c.HDBSCAN = record.HDBSCANOptions{MinClusterSize: o.minSize, MinSamples: o.minSamples, Selection: o.selection, Epsilon: o.epsilon}
		if o.minSize == 0 {
			c.HDBSCAN.MinClusterSize = 5
		}
	}
	kind := o.mapKind
	if o.NoPictures || o.graph != "" {
		kind = "none"
	}
	c.Maps = record.MapOptions{Kind: kind}
	if kind != "none" && kind != "pca" {
		c.Maps.Perplexity, c.Maps.Iterations, c.Maps.Theta = o.perplexity, o.mapIterations, o.theta
	}
	return c, nil
}

// knowable refuses, before files are read, to cluster what nothing says how to.
func (o *options) knowable(c record.ClusterOptions) error {
	t := c.Multicut.ThresholdOptions
	if o.method == solve.Agglomerative {
		t = c.Agglomerative.Threshold
	}
	if (t.From == solve.FromFit || t.From == solve.FromAuto) && o.fitX == "" {
		return base.Usagef("no distance threshold: give --threshold VALUE, or labeled held-out data to fit it to, --fit-embeddings FILE.npy --fit-labels FILE")
	}
	switch {
	case o.Labels != "" || c.K > 0:
		return nil
	case o.method == solve.KMeans && c.KMeans.Ks == nil:
		return base.Usagef("without labels the number of clusters must be given: -k 10, or -k auto; or --method multicut --threshold VALUE finds it")
	case o.method == solve.Agglomerative && !c.Agglomerative.Cut:
		return base.Usagef("agglomerative clustering without labels needs a number of clusters, -k 10, or a distance, --threshold VALUE")
	}
	return nil
}
