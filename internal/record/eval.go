package record

import (
	"fmt"
	"slices"
	"strings"
)

// Evaluated are the two groups of numbers that judge embeddings.
type Evaluated struct {
	Retrieval  Scores `json:"retrieval,omitempty"`
	Clustering Scores `json:"clustering,omitempty"`
	// Excluded counts queries whose class has no other sample.
	Excluded int `json:"queries_excluded,omitempty"`
}

// Eval is eval.json, schema tercet.eval/1.
type Eval struct {
	Schema  string      `json:"schema"`
	Source  Source      `json:"source"`
	Options EvalOptions `json:"options"`
	Evaluated
	// Pairs judge the embeddings by all pairs of items, PairCounts says of how many;
	// both where there is a threshold or they were asked for.
	Pairs      Scores               `json:"pairs,omitempty"`
	PairCounts *PairCounts          `json:"pair_counts,omitempty"`
	Baselines  map[string]Evaluated `json:"baselines,omitempty"`       // "pixels", "untrained"
	Metric     *MetricEval          `json:"metric_learning,omitempty"` // of model mahalanobis
	Warnings   []string             `json:"warnings,omitempty"`
	Cost       CostRecord           `json:"cost"`
}

// PairCounts counts unordered pairs of items. Distances are Euclidean.
type PairCounts struct {
	Same         int64          `json:"same"` // of one class
	Different    int64          `json:"different"`
	EERThreshold float64        `json:"eer_threshold"` // the distance of the equal error rate
	AUCSlack     float64        `json:"auc_slack"`     // auc is exact to this
	At           *PairThreshold `json:"at_threshold,omitempty"`
}

// PairThreshold is the threshold that pairs were told by, and what it took for the
// same.
type PairThreshold struct {
	Threshold float64 `json:"threshold"`
	// Cosine is set where a loss parts pairs by it: Threshold then is the distance of
	// embeddings scaled to length 1.
	Cosine   *float64 `json:"cosine,omitempty"`
	From     string   `json:"from"`     // "loss": the checkpoint's; "option": given
	Accepted int64    `json:"accepted"` // pairs at or below
	Wrong    int64    `json:"wrong"`    // of them, those of two classes
}

// EvalOptions says what is measured on embeddings.
type EvalOptions struct {
	Ks         []int  `json:"ks"`
	Distance   string `json:"distance"`  // euclidean or cosine
	Bootstrap  int    `json:"bootstrap"` // resamples; 0 gives no intervals
	KMeans     bool   `json:"kmeans"`
	K          int    `json:"k"` // clusters; 0 takes the number of classes
	NInit      int    `json:"n_init"`
	Seed       uint64 `json:"seed"`
	Baselines  bool   `json:"baselines"`
	Batch      int    `json:"batch"`
	Neighbours int    `json:"-"` // kept for pictures, not in the document
	Limit      int    `json:"limit,omitempty"`
	// Pairs asks for the scores of pairs also where there is no threshold. Threshold
	// is the Euclidean distance up to which a pair is the same; nil takes that of the
	// run's loss, if it fixes one.
	Pairs     bool     `json:"pairs,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// MetricEval judges a fitted metric beside two that are not: the part of eval.json of
// runs with model mahalanobis. Its scores are of h_w itself, also where w has
// eigenvalues below 0, which the network leaves out.
type MetricEval struct {
	Algorithm string `json:"algorithm"`
	Loss      string `json:"loss"`
	Positive  string `json:"positive"` // a class, or each
	Dim       int    `json:"dim"`
	// TripletError is the share of all triplets of a set whose negative is not farther
	// than the positive, by true labels; Recall the share of the judged items whose
	// nearest other one is of their class. Both have the metric learnt, Euclid's on the
	// same features and, where there is one, whitened: the inverse of the training
	// positives' covariance within their classes.
	TripletError map[string]Scores  `json:"triplet_error"` // train, test
	Recall       Scores             `json:"recall@1"`
	Triplets     map[string]float64 `json:"triplets"` // in TripletError
	// What the fit has reached, by the labels that were trained on; see MetricFit.
	Risk         float64  `json:"risk"`
	Objective    float64  `json:"objective"`
	GradNorm     float64  `json:"grad_norm"`
	Certificate  *float64 `json:"certificate,omitempty"`
	Iterations   int      `json:"iterations"`
	NegativeMass float64  `json:"negative_mass"`
}

func (Eval) kind() kind { return kind{schemas: []string{EvalSchema}, made: "eval"} }

// From is what the scores were computed from.
func (d Eval) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not: scores,
// intervals, baselines, images, settings; nil if nothing. The options of d are enough.
func (d Eval) Covers(there Eval) []string {
	had, is := there.Options, d.Options
	var out, ks []string
	for _, k := range had.Ks {
		if !slices.Contains(is.Ks, k) {
			ks = append(ks, fmt.Sprintf("recall@%d", k))
		}
	}
	if ks != nil {
		out = append(out, strings.Join(ks, ", "))
	}
	for _, part := range []struct {
		what    string
		had, is bool
	}{
		{"the clustering scores", had.KMeans, is.KMeans},
		{"the baselines", had.Baselines, is.Baselines},
		{"the scores of pairs", there.Pairs != nil && had.Threshold == nil, is.Pairs || is.Threshold != nil || there.ofLoss()},
		{"intervals", had.Bootstrap > 0, is.Bootstrap > 0},
	} {
		if part.had && !part.is {
			out = append(out, part.what)
		}
	}
	if is.Limit > 0 {
		out = append(out, lessOf(there.Source.Items, is.Limit, "images")...)
	}
	out = append(out, otherThan(had.Distance, is.Distance, "distance")...)
	if had.KMeans && is.KMeans {
		out = append(out, otherThan(had.K, is.K, "clusters")...)
		out = append(out, lessOf(had.NInit, is.NInit, "starts of k-means")...)
	}
	if had.Threshold != nil {
		out = append(out, otherThan(fmt.Sprint(*had.Threshold), thresholdWord(is.Threshold), "threshold")...) // with none, that of the loss, if any
	} else if there.ofLoss() && is.Threshold != nil {
		out = append(out, otherThan("of the loss", thresholdWord(is.Threshold), "threshold")...)
	}
	return append(out, otherThan(had.Seed, is.Seed, "seed")...)
}

// ofLoss reports whether the pairs are scored at the threshold of the run's loss.
func (d Eval) ofLoss() bool {
	return d.PairCounts != nil && d.PairCounts.At != nil && d.PairCounts.At.From == "loss"
}

func thresholdWord(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}
