package record

// Cluster is cluster.json, schema tercet.cluster/2.
type Cluster struct {
	Schema        string               `json:"schema" doc:"the name and number of the schema"`
	Source        Source               `json:"source" doc:"what the result was computed from"`
	Options       ClusterOptions       `json:"options" doc:"the options of the command, with defaults filled in"`
	Clusters      int                  `json:"clusters" doc:"number of clusters"`
	Sizes         []int                `json:"sizes" doc:"items in each cluster, in decreasing order"`
	Noise         int                  `json:"noise,omitempty" doc:"items in no cluster (label -1)"`
	Objective     *float64             `json:"objective" doc:"what the method minimizes; null if the method has none"`
	Measure       string               `json:"objective_definition,omitempty" doc:"name of the objective: 'inertia' of k-means, 'cut costs' of a multicut"`
	LowerBound    *float64             `json:"lower_bound" doc:"no clustering has a smaller objective; null without a bound"`
	Gap           *float64             `json:"gap" doc:"(objective - lower_bound) / |objective|; null without a bound"`
	Threshold     *float64             `json:"threshold" doc:"distance (not squared) below which two items belong together; null if the method has none"`
	ThresholdFrom *ThresholdSource     `json:"threshold_from,omitempty" doc:"where the threshold comes from"`
	Clustering    Scores               `json:"clustering,omitempty" doc:"scores against the true labels"`
	KMeans        *KMeansRecord        `json:"kmeans,omitempty" doc:"what k-means did"`
	Multicut      *MulticutRecord      `json:"multicut,omitempty" doc:"what the multicut solver did"`
	Agglomerative *AgglomerativeRecord `json:"agglomerative,omitempty" doc:"what agglomerative clustering did"`
	HDBSCAN       *HDBSCANRecord       `json:"hdbscan,omitempty" doc:"settings that HDBSCAN chose"`
	Maps          []MapRecord          `json:"maps,omitempty" doc:"maps in two dimensions"`
	Warnings      []string             `json:"warnings,omitempty" doc:"what limits the meaning of the numbers"`
	Cost          CostRecord           `json:"cost" doc:"passes through the network, and the time"`
	Labels        []int32              `json:"labels" doc:"cluster of each item, numbered from 0 by decreasing size; -1 is noise"`
}

// ThresholdSource says where a threshold comes from.
type ThresholdSource struct {
	From  string     `json:"from" doc:"'value', 'margins' of the run's loss, or 'fit' to labeled pairs"`
	Alpha float64    `json:"alpha,omitempty" doc:"margin of negatives ('margins')"`
	Beta  float64    `json:"beta,omitempty" doc:"margin of positives ('margins')"`
	Fit   *FitRecord `json:"fit,omitempty" doc:"the fit ('fit')"`
}

// FitRecord is a logistic regression of "same class" on the distances of pairs.
type FitRecord struct {
	Set         string  `json:"set" doc:"data of the fit: 'validation', 'train' or a file"`
	Items       int     `json:"items" doc:"number of items"`
	Fingerprint string  `json:"fingerprint" doc:"SHA-256 of images and labels"`
	On          string  `json:"on" doc:"regressor: 'squared' distance or 'distance'"`
	Prior       string  `json:"prior" doc:"weight of similar pairs: 'balanced' (half) or 'pairs' (as frequent as they are)"`
	Pairs       int     `json:"pairs" doc:"number of pairs"`
	Similar     int     `json:"similar" doc:"pairs of one class"`
	Intercept   float64 `json:"intercept" doc:"intercept of the logit of P(same class)"`
	Slope       float64 `json:"slope" doc:"slope of the logit of P(same class)"`
	Accuracy    float64 `json:"accuracy" doc:"fraction of pairs classified correctly"`
	AUC         float64 `json:"auc" doc:"area under the ROC curve"`
	Iterations  int     `json:"iterations" doc:"iterations of the solver"`
	Separable   bool    `json:"separable,omitempty" doc:"whether one distance separates the pairs without error"`
}

// MulticutRecord says what was solved, how, and what other clusterings cost.
type MulticutRecord struct {
	Link       *LinkRecord  `json:"link,omitempty" doc:"how distances become costs; absent for a graph from a file"`
	Graph      GraphRecord  `json:"graph" doc:"the graph"`
	Solver     SolverRecord `json:"solver" doc:"the solver"`
	Bound      *BoundRecord `json:"bound,omitempty" doc:"the lower bound"`
	Comparison *Comparison  `json:"comparison,omitempty" doc:"objective of other clusterings under the same costs"`
	Complete   *float64     `json:"objective_complete,omitempty" doc:"objective over all pairs, if a sparse graph was solved and the costs factorize"`
}

// LinkRecord is how distances became costs.
type LinkRecord struct {
	Kind    string  `json:"kind" doc:"'squared': w = scale (tau² - d²); 'distance': w = scale (tau - d)"`
	Tau     float64 `json:"tau" doc:"distance at which the cost is 0"`
	Scale   float64 `json:"scale" doc:"factor of the costs"`
	Clip    float64 `json:"clip,omitempty" doc:"smallest distance of join probabilities from 0 and 1"`
	Bias    float64 `json:"bias" doc:"above 0.5 favors cuts, below 0.5 joins"`
	Factors bool    `json:"factors" doc:"whether the costs of all pairs factorize, so that no matrix is stored"`
	Why     string  `json:"why,omitempty" doc:"why a matrix is needed, if it is"`
}

// GraphRecord counts nodes and edges.
type GraphRecord struct {
	Kind       string `json:"kind" doc:"'complete', 'sparse' or 'file'"`
	Nodes      int    `json:"nodes" doc:"number of nodes"`
	Edges      int64  `json:"edges" doc:"number of edges"`
	Absent     int64  `json:"absent" doc:"pairs without an edge; they cost 0"`
	Duplicates int    `json:"duplicates,omitempty" doc:"edges of a file between the same nodes as an earlier edge, to which their costs were added"`
	Zeros      int    `json:"zeros,omitempty" doc:"pairs of a file whose costs sum to 0"`
	Isolated   int    `json:"isolated,omitempty" doc:"nodes of a file without an edge"`
	Components int    `json:"components,omitempty" doc:"connected components of a graph from a file"`
	Bytes      int64  `json:"matrix_bytes,omitempty" doc:"size of the cost matrix in bytes, if there was one"`
}

// SolverRecord says what a solver did.
type SolverRecord struct {
	Name    string  `json:"name" doc:"name of the solver"`
	Rounds  int     `json:"rounds,omitempty" doc:"rounds of the solver"`
	Proven  bool    `json:"proven" doc:"whether the clustering is proven optimal, up to rounding"`
	Seconds float64 `json:"seconds" doc:"wall time in seconds"`
}

// BoundRecord says where a lower bound comes from.
type BoundRecord struct {
	Method  string  `json:"method" doc:"'trivial', 'triangle packing', 'cycle packing', 'branch and bound' or 'unfinished branch and bound'"`
	Ended   bool    `json:"ended,omitempty" doc:"whether it stopped at a work limit, so that a higher bound is possible"`
	Seconds float64 `json:"seconds" doc:"wall time in seconds"`
}

// Comparison holds other clusterings of the same graph under the same costs: if the
// ground truth costs less than the answer, errors come from the solver, otherwise from
// the costs.
type Comparison struct {
	GroundTruth *Compared `json:"ground_truth,omitempty" doc:"clustering by the true labels"`
	KMeans      *Compared `json:"kmeans,omitempty" doc:"k-means, with as many clusters as classes"`
	OneCluster  Compared  `json:"one_cluster" doc:"all items in one cluster"`
	Singletons  Compared  `json:"singletons" doc:"each item in its own cluster"`
	Verdict     string    `json:"verdict,omitempty" doc:"whether errors come from the solver or from the costs, in words"`
}

// Compared is another clustering.
type Compared struct {
	Clusters   int     `json:"clusters" doc:"number of clusters"`
	Objective  float64 `json:"objective" doc:"objective under the same costs"`
	Clustering Scores  `json:"clustering,omitempty" doc:"scores against the true labels"`
}

// KMeansRecord says what k-means did.
type KMeansRecord struct {
	K          int       `json:"k" doc:"number of clusters"`
	Iterations int       `json:"iterations" doc:"iterations of the best start"`
	Restart    int       `json:"restart" doc:"index of the best start, from 0"`
	Converged  bool      `json:"converged" doc:"whether the best start converged"`
	Choice     []KChoice `json:"choice,omitempty" doc:"silhouette score of each candidate for k"`
}

// KChoice is the silhouette that k-means reaches with k clusters.
type KChoice struct {
	K          int     `json:"k" doc:"number of clusters"`
	Silhouette float64 `json:"silhouette" doc:"silhouette"`
	Inertia    float64 `json:"inertia" doc:"inertia"`
}

// AgglomerativeRecord says what agglomerative clustering did.
type AgglomerativeRecord struct {
	Heights []float64 `json:"heights" doc:"distances of the last merges of the whole tree, the last first"`
}

// HDBSCANRecord holds the options that were left open.
type HDBSCANRecord struct {
	MinClusterSize int `json:"min_cluster_size" doc:"smallest cluster"`
	MinSamples     int `json:"min_samples" doc:"neighbors, including the point itself, that make a core point"`
}

// MapRecord is a map of the items in two dimensions.
type MapRecord struct {
	Kind            string    `json:"kind" doc:"'pca' or 'tsne'"`
	Items           int       `json:"items" doc:"number of items on the map"`
	Explained       []float64 `json:"explained,omitempty" doc:"fractions of variance ('pca')"`
	Perplexity      float64   `json:"perplexity,omitempty" doc:"perplexity ('tsne')"`
	Iterations      int       `json:"iterations,omitempty" doc:"iterations ('tsne')"`
	LearningRate    float64   `json:"learning_rate,omitempty" doc:"learning rate ('tsne')"`
	Convention      string    `json:"learning_rate_convention,omitempty" doc:"convention of the learning rate"`
	KL              *float64  `json:"kl,omitempty" doc:"KL divergence reached ('tsne')"`
	Trustworthiness *float64  `json:"trustworthiness,omitempty" doc:"trustworthiness of the map"`
	Neighbors       int       `json:"trustworthiness_neighbours,omitempty" doc:"neighbors that the trustworthiness considers"`
	Seconds         float64   `json:"seconds" doc:"wall time in seconds"`
}

// ClusterTask says what a task of k-means has done, schema tercet.cluster-task/1.
type ClusterTask struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	Source Source `json:"source" doc:"what is clustered"`
	Starts string `json:"starts" doc:"file of the starts"`
	Task   int    `json:"task" doc:"number of the task, from 1"`
	Tasks  int    `json:"tasks" doc:"number of tasks"`
	Count  int    `json:"count" doc:"starts in the file"`
}

func (Cluster) kind() kind {
	return kind{schemas: []string{ClusterSchema, OldClusterSchema}, made: "cluster", beyond: []string{"labels"}}
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
