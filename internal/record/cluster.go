package record

// Cluster is cluster.json, schema tercet.cluster/2.
type Cluster struct {
	Schema   string         `json:"schema"`
	Source   Source         `json:"source"`
	Options  ClusterOptions `json:"options"`
	Clusters int            `json:"clusters"`
	Sizes    []int          `json:"sizes"`           // by cluster, decreasing
	Noise    int            `json:"noise,omitempty"` // items of no cluster, label -1
	// Objective is what the method makes small, by Measure: of k-means "inertia",
	// of multicut "cut costs"; null where a method has none.
	Objective  *float64 `json:"objective"`
	Measure    string   `json:"objective_definition,omitempty"`
	LowerBound *float64 `json:"lower_bound"` // of the objective of any clustering
	Gap        *float64 `json:"gap"`         // (objective - lower_bound) / |objective|
	// Threshold is the distance (not squared) below which two items belong together.
	Threshold     *float64             `json:"threshold"`
	ThresholdFrom *ThresholdSource     `json:"threshold_from,omitempty"`
	Clustering    Scores               `json:"clustering,omitempty"`
	KMeans        *KMeansRecord        `json:"kmeans,omitempty"`
	Multicut      *MulticutRecord      `json:"multicut,omitempty"`
	Agglomerative *AgglomerativeRecord `json:"agglomerative,omitempty"`
	HDBSCAN       *HDBSCANRecord       `json:"hdbscan,omitempty"`
	Maps          []MapRecord          `json:"maps,omitempty"`
	Warnings      []string             `json:"warnings,omitempty"`
	Cost          CostRecord           `json:"cost"`
	Labels        []int32              `json:"labels"` // 0 to clusters-1; -1: noise
}

// ThresholdSource says where a threshold comes from.
type ThresholdSource struct {
	From  string     `json:"from"`            // value, margins or fit
	Alpha float64    `json:"alpha,omitempty"` // margins, where the config has them
	Beta  float64    `json:"beta,omitempty"`
	Fit   *FitRecord `json:"fit,omitempty"`
}

// FitRecord is a logistic regression of "same class" on the distances of pairs.
type FitRecord struct {
	Set         string  `json:"set"` // validation, train, or a file
	Items       int     `json:"items"`
	Fingerprint string  `json:"fingerprint"`
	On          string  `json:"on"`    // squared or distance
	Prior       string  `json:"prior"` // balanced or pairs
	Pairs       int     `json:"pairs"`
	Similar     int     `json:"similar"`
	Intercept   float64 `json:"intercept"` // of the logit of P(join)
	Slope       float64 `json:"slope"`
	Accuracy    float64 `json:"accuracy"`
	AUC         float64 `json:"auc"`
	Iterations  int     `json:"iterations"`
	Separable   bool    `json:"separable,omitempty"`
}

// MulticutRecord says what was solved, how, and what other clusterings cost.
type MulticutRecord struct {
	Link       *LinkRecord  `json:"link,omitempty"` // none of a graph from a file
	Graph      GraphRecord  `json:"graph"`
	Solver     SolverRecord `json:"solver"`
	Bound      *BoundRecord `json:"bound,omitempty"`
	Comparison *Comparison  `json:"comparison,omitempty"`
	// Complete is the objective on the complete graph, where a sparse one was solved
	// and the costs factorise.
	Complete *float64 `json:"objective_complete,omitempty"`
}

// LinkRecord is how distances became costs.
type LinkRecord struct {
	Kind  string  `json:"kind"` // squared: w = scale (tau^2 - d^2); distance: w = scale (tau - d)
	Tau   float64 `json:"tau"`
	Scale float64 `json:"scale"`
	Clip  float64 `json:"clip,omitempty"`
	Bias  float64 `json:"bias"`
	// Factors is whether the costs of the complete graph need no matrix; Why says
	// why not.
	Factors bool   `json:"factors"`
	Why     string `json:"why,omitempty"`
}

// GraphRecord counts nodes and edges.
type GraphRecord struct {
	Kind       string `json:"kind"` // complete, sparse or file
	Nodes      int    `json:"nodes"`
	Edges      int64  `json:"edges"`
	Absent     int64  `json:"absent"`                 // pairs without an edge: they cost 0
	Duplicates int    `json:"duplicates,omitempty"`   // edges of a file that were added to others
	Zeros      int    `json:"zeros,omitempty"`        // pairs of a file whose costs are 0
	Isolated   int    `json:"isolated,omitempty"`     // nodes of a file without an edge
	Components int    `json:"components,omitempty"`   // of a file
	Bytes      int64  `json:"matrix_bytes,omitempty"` // of the cost matrix, where there was one
}

// SolverRecord says what a solver did.
type SolverRecord struct {
	Name    string  `json:"name"`
	Rounds  int     `json:"rounds,omitempty"`
	Proven  bool    `json:"proven"` // no clustering costs less, but for rounding: the bound is the objective
	Seconds float64 `json:"seconds"`
}

// BoundRecord says where a lower bound comes from.
type BoundRecord struct {
	Method  string  `json:"method"`
	Ended   bool    `json:"ended,omitempty"` // by a limit of work: a higher one would be possible
	Seconds float64 `json:"seconds"`
}

// Comparison holds other clusterings of the same graph under the same costs: if the
// ground truth costs less than the answer, the solver is to blame for what differs,
// otherwise the costs are.
type Comparison struct {
	GroundTruth *Compared `json:"ground_truth,omitempty"`
	KMeans      *Compared `json:"kmeans,omitempty"`
	OneCluster  Compared  `json:"one_cluster"`
	Singletons  Compared  `json:"singletons"`
	Verdict     string    `json:"verdict,omitempty"`
}

// Compared is another clustering.
type Compared struct {
	Clusters   int     `json:"clusters"`
	Objective  float64 `json:"objective"`
	Clustering Scores  `json:"clustering,omitempty"`
}

// KMeansRecord says what k-means did.
type KMeansRecord struct {
	K          int       `json:"k"`
	Iterations int       `json:"iterations"`
	Restart    int       `json:"restart"` // the best, from 0
	Converged  bool      `json:"converged"`
	Choice     []KChoice `json:"choice,omitempty"` // where the silhouette chose k
}

// KChoice is the silhouette that k-means reaches with k clusters.
type KChoice struct {
	K          int     `json:"k"`
	Silhouette float64 `json:"silhouette"`
	Inertia    float64 `json:"inertia"`
}

// AgglomerativeRecord says what agglomerative clustering did.
type AgglomerativeRecord struct {
	// Heights are the linkage distances of the last joins of the whole tree, the
	// last first: a gap between two suggests a threshold.
	Heights []float64 `json:"heights"`
}

// HDBSCANRecord holds the options that were left open.
type HDBSCANRecord struct {
	MinClusterSize int `json:"min_cluster_size"`
	MinSamples     int `json:"min_samples"`
}

// MapRecord is a map of the items in two dimensions.
type MapRecord struct {
	Kind            string    `json:"kind"` // pca or tsne
	Items           int       `json:"items"`
	Explained       []float64 `json:"explained,omitempty"` // pca: shares of variance
	Perplexity      float64   `json:"perplexity,omitempty"`
	Iterations      int       `json:"iterations,omitempty"`
	LearningRate    float64   `json:"learning_rate,omitempty"`
	Convention      string    `json:"learning_rate_convention,omitempty"`
	KL              *float64  `json:"kl,omitempty"`
	Trustworthiness *float64  `json:"trustworthiness,omitempty"`
	Neighbours      int       `json:"trustworthiness_neighbours,omitempty"`
	Seconds         float64   `json:"seconds"`
}

func (Cluster) kind() kind {
	return kind{schemas: []string{ClusterSchema, OldClusterSchema}, made: "cluster"}
}

// From is what was clustered.
func (d Cluster) From() Source { return d.Source }

// Covers says what there has and d, of the same weights and images, would not; nil if
// nothing. The options of d are enough, and the items of its source where they are
// bounded.
func (d Cluster) Covers(there Cluster) []string {
	had, is := there.Options, d.Options
	if had.Method != is.Method {
		return otherThan(had.Method, is.Method, "method")
	}
	var out []string
	if n := d.Source.Items; n > 0 {
		out = lessOf(there.Source.Items, n, "images")
	}
	out = append(out, lessOf(had.NInit, is.NInit, "starts of k-means")...)
	if there.Multicut != nil && there.Multicut.Comparison != nil && is.Multicut.Alone {
		out = append(out, "the comparison with other clusterings")
	}
	if len(there.Maps) > 0 {
		out = append(out, lacksMaps(had.Maps, is.Maps)...)
	}
	had.NInit, had.Maps, had.Multicut.Alone = is.NInit, is.Maps, is.Multicut.Alone
	had.Multicut.Matrix, had.Agglomerative.Memory = is.Multicut.Matrix, is.Agglomerative.Memory // bounds of memory change no result
	return append(out, otherSettings(had, is, "")...)
}

// lacksMaps says what maps by m there are that those by o would not be.
func lacksMaps(m, o MapOptions) []string {
	switch {
	case o.Kind == "none":
		return []string{"the maps"}
	case m.Kind == o.Kind:
		return otherSettings(m, o, "maps.")
	case o.Kind == "both" || m.Kind == "pca" && o.Kind == "auto":
		return nil
	}
	return otherThan(m.Kind, o.Kind, "maps")
}
