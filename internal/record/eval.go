package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Evaluated are the two groups of scores of embeddings.
type Evaluated struct {
	Retrieval  Scores `json:"retrieval,omitempty" doc:"retrieval scores"`
	Clustering Scores `json:"clustering,omitempty" doc:"scores of k-means with as many clusters as classes"`
	Excluded   int    `json:"queries_excluded,omitempty" doc:"queries whose class has no other item"`
	// Searched and Gallery are given where queries are not searched for among all others.
	Searched int `json:"queries,omitempty" doc:"number of queries, if queries and gallery are separate"`
	Gallery  int `json:"gallery,omitempty" doc:"number of gallery items, if queries and gallery are separate"`
}

// Eval is eval.json, schema tercet.eval/1.
type Eval struct {
	Schema  string      `json:"schema" doc:"the name and number of the schema"`
	Source  Source      `json:"source" doc:"what the result was computed from"`
	Options EvalOptions `json:"options" doc:"the options of the command, with defaults filled in"`
	Evaluated
	Pairs      Scores               `json:"pairs,omitempty" doc:"scores of all pairs of items, by their distance"`
	PairCounts *PairCounts          `json:"pair_counts,omitempty" doc:"counts and thresholds of these pairs"`
	Distances  *PairDistances       `json:"pair_distances,omitempty" doc:"distances of pairs"`
	Baselines  map[string]Evaluated `json:"baselines,omitempty" doc:"the same scores of raw 'pixels' and of the 'untrained' network; of 'exact' search, if neighbor lists were evaluated"`
	Metric     *MetricEval          `json:"metric_learning,omitempty" doc:"scores of the fitted metric (model 'mahalanobis')"`
	Items      Packed               `json:"items,omitempty" doc:"index of each query among the images, packed as 'values' are"`
	Values     PackedScores         `json:"values,omitempty" doc:"the value of each query by retrieval score: float32, little-endian, zlib, base64"`
	Classes    []ClassScores        `json:"classes,omitempty" doc:"retrieval scores of each class, if requested"`
	Selection  string               `json:"selection,omitempty" doc:"how test images took part in choosing the weights, so that the test scores are too good"`
	Warnings   []string             `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost       CostRecord           `json:"cost" doc:"passes through the network, and the time"`
}

// EvalTask says what a task of an evaluation has counted, schema tercet.eval-task/1.
type EvalTask struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Source Source `json:"source" doc:"what the result will be computed from"`
	Counts string `json:"counts" doc:"file of the counts"`
	Task   int    `json:"task" doc:"number of the task, from 1"`
	Tasks  int    `json:"tasks" doc:"number of tasks"`
	First  int    `json:"first" doc:"first gallery row that was searched; if queries and gallery are one set of small classes, each row is compared with all rows before it"`
	Rows   int    `json:"rows" doc:"number of gallery rows that were searched"`
}

// ClassScores are the retrieval scores of one class.
type ClassScores struct {
	Class   string             `json:"class" doc:"name of the class, or its label where it has no name"`
	Images  int                `json:"images" doc:"items of the class"`
	Queries int                `json:"queries" doc:"queries of the class that have another item of their class"`
	Scores  map[string]float64 `json:"scores,omitempty" doc:"mean of each score over these queries"`
}

// PairCounts counts unordered pairs of items. Distances are Euclidean.
type PairCounts struct {
	Same         int64          `json:"same" doc:"pairs of one class"`
	Different    int64          `json:"different" doc:"pairs of two classes"`
	EERThreshold float64        `json:"eer_threshold" doc:"distance of the equal error rate"`
	AUCSlack     float64        `json:"auc_slack" doc:"largest error of 'auc'; 0 for up to 2^20 pairs"`
	At           *PairThreshold `json:"at_threshold,omitempty" doc:"counts at the threshold, if there is one"`
	Points       []PairPoint    `json:"at_fmr,omitempty" doc:"threshold and counts for each false match rate"`
}

// PairPoint is the largest distance at which the share of accepted pairs of two classes
// is not above a false match rate.
type PairPoint struct {
	FMR       float64 `json:"fmr" doc:"false match rate"`
	Threshold float64 `json:"threshold" doc:"Euclidean distance up to which pairs are accepted; -1 if no threshold has a rate that low"`
	Accepted  int64   `json:"accepted" doc:"accepted pairs"`
	Wrong     int64   `json:"wrong" doc:"accepted pairs of two classes"`
}

// PairDistances describe the distances of pairs: Euclidean, of unit vectors where the
// embeddings or the pairs' threshold are of such.
type PairDistances struct {
	Same      Distances       `json:"same" doc:"distances of the pairs of one class"`
	Different Distances       `json:"different" doc:"distances of the pairs of two classes"`
	Within    *ClassDistances `json:"within,omitempty" doc:"mean distance within each class, over classes of two or more items; at most 2,000 items of a class are used"`
}

// Distances are those of many pairs.
type Distances struct {
	Mean   float64 `json:"mean" doc:"mean"`
	P5     float64 `json:"p5" doc:"5th percentile"`
	P25    float64 `json:"p25" doc:"25th percentile"`
	Median float64 `json:"median" doc:"median"`
	P75    float64 `json:"p75" doc:"75th percentile"`
	P95    float64 `json:"p95" doc:"95th percentile"`
}

// ClassDistances compare classes by the mean distance of their items.
type ClassDistances struct {
	Mean       float64 `json:"mean" doc:"mean over classes"`
	Least      float64 `json:"least" doc:"smallest mean of a class"`
	Greatest   float64 `json:"greatest" doc:"largest mean of a class"`
	RelativeSD float64 `json:"relative_sd" doc:"standard deviation over classes, divided by the mean"`
}

// PairThreshold is the threshold by which pairs were classified, with its result.
type PairThreshold struct {
	Threshold float64  `json:"threshold" doc:"Euclidean distance up to which a pair is classified as same"`
	Cosine    *float64 `json:"cosine,omitempty" doc:"cosine of the loss; 'threshold' is then a distance of unit vectors"`
	From      string   `json:"from" doc:"'loss' (of the checkpoint) or 'option'"`
	Accepted  int64    `json:"accepted" doc:"pairs at or below the threshold"`
	Wrong     int64    `json:"wrong" doc:"accepted pairs of two classes"`
}

// ByClass is the value of EvalOptions.Intervals that resamples whole classes.
const ByClass = "classes"

// IntervalsOver is what the intervals resample, "queries" or "classes".
func (o EvalOptions) IntervalsOver() string { return cmp.Or(o.Intervals, "queries") }

// ScoresPairs reports whether the options ask for scores of pairs.
func (o EvalOptions) ScoresPairs() bool { return o.Pairs || o.Threshold != nil || len(o.FMR) > 0 }

// EvalOptions says what is measured on embeddings.
type EvalOptions struct {
	Ks        []int    `json:"ks" doc:"values of k for recall@k"`
	Distance  string   `json:"distance" doc:"'euclidean' or 'cosine'"`
	Bootstrap int      `json:"bootstrap" doc:"resamples of the confidence intervals; 0 gives none"`
	KMeans    bool     `json:"kmeans" doc:"whether k-means is scored"`
	K         int      `json:"k" doc:"number of clusters; 0 is the number of classes"`
	NInit     int      `json:"n_init" doc:"number of k-means starts"`
	Seed      uint64   `json:"seed" doc:"random seed"`
	Baselines bool     `json:"baselines" doc:"whether baselines are evaluated"`
	Batch     int      `json:"batch" doc:"batch size of the network"`
	Neighbors int      `json:"-"` // kept for pictures, not in the document
	Limit     int      `json:"limit,omitempty" doc:"largest number of items; 0 is all"`
	Pairs     bool     `json:"pairs,omitempty" doc:"whether pairs are scored even without a threshold"`
	Threshold *float64 `json:"threshold,omitempty" doc:"distance up to which a pair is classified as same"`
	PerQuery  bool     `json:"per_query,omitempty" doc:"whether the values of each query are stored"`
	PerClass  bool     `json:"per_class,omitempty" doc:"whether the scores of each class are stored"`
	// Intervals is empty where queries are resampled, so that older documents say the same.
	Intervals string    `json:"intervals,omitempty" doc:"'classes' if the intervals resample whole classes; otherwise queries"`
	FMR       []float64 `json:"fmr,omitempty" doc:"false match rates at which pairs are scored"`
}

// MetricEval compares a fitted metric with two that are not: the part of eval.json of
// runs with model mahalanobis. Its scores are of h_w itself, also where w has
// eigenvalues below 0, which the network leaves out.
type MetricEval struct {
	Algorithm    string             `json:"algorithm" doc:"'rrm' or 'sgd'"`
	Loss         string             `json:"loss" doc:"loss of the fit"`
	Positive     string             `json:"positive" doc:"class of the positives, or 'each'"`
	Dim          int                `json:"dim" doc:"dimension"`
	TripletError map[string]Scores  `json:"triplet_error" doc:"for 'train' and 'test', fraction of wrong triplets under the 'learned', 'euclidean' and 'whitened' metric"`
	Recall       Scores             `json:"recall@1" doc:"recall@1 under the same metrics"`
	Triplets     map[string]float64 `json:"triplets" doc:"number of triplets of each set"`
	Risk         float64            `json:"risk" doc:"empirical risk of the fit"`
	Objective    float64            `json:"objective" doc:"risk plus regularization"`
	GradNorm     float64            `json:"grad_norm" doc:"norm of the objective's gradient"`
	Certificate  *float64           `json:"certificate,omitempty" doc:"bound on the distance to the minimizer ('rrm')"`
	Iterations   int                `json:"iterations" doc:"iterations of the fit"`
	NegativeMass float64            `json:"negative_mass" doc:"fraction of the eigenvalues' absolute sum that is negative"`
}

func (Eval) kind() kind {
	return kind{schemas: []string{EvalSchema}, made: "eval", beyond: []string{"baselines", "classes", "items", "values"}}
}

// From is what the scores were computed from.
func (d Eval) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not: scores,
// intervals, baselines, images, settings; nil if nothing. The options of d are enough.
func (d Eval) Covers(there Eval) []string {
	had, is := there.Options, d.Options
	var out losses
	var ks []string
	for _, k := range had.Ks {
		if !slices.Contains(is.Ks, k) {
			ks = append(ks, fmt.Sprintf("recall@%d", k))
		}
	}
	for _, f := range had.FMR {
		if !slices.Contains(is.FMR, f) {
			ks = append(ks, fmt.Sprintf("fnmr@fmr=%v", f))
		}
	}
	out.add(ks != nil, "%s", strings.Join(ks, ", "))
	out.add(had.KMeans && !is.KMeans, "the clustering scores")
	out.add(had.Baselines && !is.Baselines, "the baselines")
	out.add(there.Pairs != nil && had.Threshold == nil && !is.ScoresPairs() && !there.ofLoss(), "the scores of pairs")
	out.add(had.Bootstrap > 0 && is.Bootstrap <= 0, "intervals")
	out.add(had.PerQuery && !is.PerQuery, "the values of each query")
	out.add(had.PerClass && !is.PerClass, "the scores of each class")
	if is.Limit > 0 {
		out = append(out, lessOf(there.Source.Items, is.Limit, "images")...)
	}
	out = append(out, otherThan(had.Distance, is.Distance, "distance")...)
	if had.Bootstrap > 0 && is.Bootstrap > 0 {
		out = append(out, otherThan(had.IntervalsOver(), is.IntervalsOver(), "intervals over")...)
	}
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

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with more stored or scored. A threshold of pairs is a setting, as in Covers.
func (d Eval) Holds(o EvalOptions) bool {
	had := d.Options
	widen(&o.Ks, had.Ks)
	widen(&o.FMR, had.FMR)
	o.Pairs, o.Baselines = o.Pairs || had.Pairs, o.Baselines || had.Baselines
	o.PerQuery, o.PerClass = o.PerQuery || had.PerQuery, o.PerClass || had.PerClass
	o.Batch = had.Batch // which changes no bit
	if !o.KMeans {
		o.KMeans, o.K, o.NInit = had.KMeans, had.K, had.NInit
	}
	if o.Bootstrap == 0 {
		o.Bootstrap, o.Intervals = had.Bootstrap, had.Intervals
	}
	return SameJSON(had, o)
}

// Queries is the number of queries that count.
func (d Eval) Queries() int { return cmp.Or(d.Searched, d.Source.Items) - d.Excluded }

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
