package experiment

import (
	"fmt"

	"tercet/internal/cluster/link"
)

// Methods of clustering.
const (
	KMeans        = "kmeans"
	Multicut      = "multicut"
	Agglomerative = "agglomerative"
	HDBSCAN       = "hdbscan"
)

// ClusterMethods lists the methods.
func ClusterMethods() []string { return []string{KMeans, Multicut, Agglomerative, HDBSCAN} }

// ClusterOptions says how embeddings are clustered; of the parts, that of the method
// counts.
type ClusterOptions struct {
	Method        string               `json:"method"`
	K             int                  `json:"k"` // clusters; 0 takes the number of classes
	NInit         int                  `json:"n_init"`
	Seed          uint64               `json:"seed"`
	KMeans        KMeansOptions        `json:"kmeans,omitzero"`
	Multicut      MulticutOptions      `json:"multicut,omitzero"`
	Agglomerative AgglomerativeOptions `json:"agglomerative,omitzero"`
	HDBSCAN       HDBSCANOptions       `json:"hdbscan,omitzero"`
	Maps          MapOptions           `json:"maps,omitzero"`
}

// KMeansOptions are those of k-means beside k and its starts.
type KMeansOptions struct {
	Ks        []int `json:"ks,omitempty"`        // of which the silhouette chooses one
	Sample    int   `json:"sample,omitempty"`    // items of which it is measured, 0: all
	Spherical bool  `json:"spherical,omitempty"` // directions count, not lengths
	MiniBatch int   `json:"mini_batch,omitempty"`
}

// Where a threshold comes from.
const (
	FromAuto    = "auto" // margins where the loss fixes a threshold, otherwise fit
	FromMargins = "margins"
	FromFit     = "fit"
	FromValue   = "value"
)

// ThresholdOptions says at which distance two items belong together.
type ThresholdOptions struct {
	From  string  `json:"threshold"`
	Value float64 `json:"value,omitempty"` // distance, of FromValue
	// Labelled held-out data to fit to, where there is no run.
	Embeddings string `json:"fit_embeddings,omitempty"`
	Labels     string `json:"fit_labels,omitempty"`
	// LabelColumn is the column of Labels, a csv file; "" for label, or the only one.
	LabelColumn string `json:"fit_label_column,omitempty"`
	// Prior is what share of pairs counts as similar in a fit: half ("balanced"), or
	// theirs ("pairs").
	Prior string `json:"fit_prior,omitempty"`
}

// MulticutOptions says what the costs are and who makes them small.
type MulticutOptions struct {
	ThresholdOptions
	Link       string   `json:"link,omitempty"`  // squared, distance or fitted
	Scale      float64  `json:"scale,omitempty"` // of the link; 0: by the threshold's source
	Clip       float64  `json:"clip,omitempty"`
	Bias       float64  `json:"bias,omitempty"` // 0: 0.5, neutral
	Neighbours int      `json:"graph_neighbours,omitempty"`
	Random     int      `json:"graph_random,omitempty"`
	Solver     string   `json:"solver"` // auto, or one of MulticutSolvers
	Starts     []string `json:"starts,omitempty"`
	Rounds     int      `json:"rounds,omitempty"`
	Restarts   int      `json:"restarts,omitempty"` // of factored and kl; 0: their own choice, negative: none
	MinSize    int      `json:"min_cluster_size,omitempty"`
	Bound      string   `json:"bound"` // auto, none, trivial, triangle or cycle
	Matrix     int64    `json:"matrix_limit_bytes,omitempty"`
	Alone      bool     `json:"no_comparison,omitempty"`
}

// MulticutSolvers lists the solvers; "kl" is GAEC, then Kernighan and Lin's updates
// with joins.
func MulticutSolvers() []string {
	return []string{"factored", "gaec", "balanced", "fixation", "mutex", "kl", "exact"}
}

// AgglomerativeOptions are those beside k.
type AgglomerativeOptions struct {
	Linkage string `json:"linkage"`
	// Cut says that clusters end at a distance instead of at their number.
	Cut       bool             `json:"cut,omitempty"`
	Threshold ThresholdOptions `json:"threshold,omitzero"`
	Memory    int64            `json:"memory_limit_bytes,omitempty"` // for distances; 0: 4 GiB
}

// HDBSCANOptions are those of hdbscan.
type HDBSCANOptions struct {
	MinClusterSize int     `json:"min_cluster_size"`
	MinSamples     int     `json:"min_samples,omitempty"` // 0: as min_cluster_size
	Selection      string  `json:"selection"`             // eom or leaf
	Epsilon        float64 `json:"epsilon,omitempty"`
}

// MapOptions says what maps are made.
type MapOptions struct {
	// Kind is tsne, pca, both, none, or auto: pca, and tsne of at most AutoMap items.
	Kind       string  `json:"kind"`
	Perplexity float64 `json:"perplexity,omitempty"`
	Iterations int     `json:"iterations,omitempty"`
	Theta      float64 `json:"theta,omitempty"`
}

// OptionError is a mistake in options, not in data.
type OptionError struct{ msg string }

// Error says what is wrong and what to do.
func (e *OptionError) Error() string { return e.msg }

func optionf(format string, args ...any) error { return &OptionError{fmt.Sprintf(format, args...)} }

// sure is P(join) at distance 0, and P(cut) at alpha, that a scale stands for where
// nothing else says it.
const sure = 0.99

// natural returns the scale of a link on d^2 or d that says P(join) = sure at
// distance 0, or, where the margins are known, P(cut) = sure at d^2 = alpha.
func natural(kind string, tau, alpha, beta float64) float64 {
	switch {
	case kind == link.OnSquared && alpha > beta && beta > 0:
		return link.NaturalScale(alpha, beta, 1-sure)
	case kind == link.OnSquared:
		return link.NaturalScale(2*tau*tau, 0, 1-sure)
	}
	return link.NaturalScale(2*tau, 0, 1-sure)
}
