package record

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
