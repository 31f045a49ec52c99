package record

// ClusterOptions says how embeddings are clustered; of the parts, that of the method
// counts.
type ClusterOptions struct {
	Method        string               `json:"method" doc:"'kmeans', 'multicut', 'agglomerative' or 'hdbscan'"`
	K             int                  `json:"k" doc:"number of clusters; 0 is the number of classes"`
	NInit         int                  `json:"n_init" doc:"number of k-means starts"`
	Seed          uint64               `json:"seed" doc:"random seed"`
	KMeans        KMeansOptions        `json:"kmeans,omitzero" doc:"options of k-means"`
	Multicut      MulticutOptions      `json:"multicut,omitzero" doc:"options of a multicut"`
	Agglomerative AgglomerativeOptions `json:"agglomerative,omitzero" doc:"options of agglomerative clustering"`
	HDBSCAN       HDBSCANOptions       `json:"hdbscan,omitzero" doc:"options of HDBSCAN"`
	Maps          MapOptions           `json:"maps,omitzero" doc:"options of the maps"`
}

// KMeansOptions are those of k-means but for k and its starts.
type KMeansOptions struct {
	Ks        []int `json:"ks,omitempty" doc:"candidates for k; the silhouette chooses"`
	Sample    int   `json:"sample,omitempty" doc:"number of items for the silhouette score; 0 is all"`
	Spherical bool  `json:"spherical,omitempty" doc:"whether only directions count, not lengths"`
	MiniBatch int   `json:"mini_batch,omitempty" doc:"batch size of mini-batch k-means; 0 is none"`
}

// ThresholdOptions says at which distance two items belong together.
type ThresholdOptions struct {
	From        string  `json:"threshold" doc:"'auto', 'margins', 'fit' or 'value'"`
	Value       float64 `json:"value,omitempty" doc:"threshold distance ('value')"`
	Embeddings  string  `json:"fit_embeddings,omitempty" doc:"labeled held-out vectors for the fit, if there is no run"`
	Labels      string  `json:"fit_labels,omitempty" doc:"file of their labels"`
	LabelColumn string  `json:"fit_label_column,omitempty" doc:"column of the label csv; empty is 'label' or the only column"`
	Prior       string  `json:"fit_prior,omitempty" doc:"weight of similar pairs in a fit: 'balanced' (half) or 'pairs' (as frequent as they are)"`
}

// MulticutOptions says what the costs are and how they are minimized.
type MulticutOptions struct {
	ThresholdOptions
	Link      string   `json:"link,omitempty" doc:"'squared', 'distance' or 'fitted'"`
	Scale     float64  `json:"scale,omitempty" doc:"scale of the costs; 0 takes that of the fit or of the margins"`
	Clip      float64  `json:"clip,omitempty" doc:"smallest distance of join probabilities from 0 and 1; 0 is no limit"`
	Bias      float64  `json:"bias,omitempty" doc:"above 0.5 favors cuts, below 0.5 joins; 0 is 0.5"`
	Neighbors int      `json:"graph_neighbours,omitempty" doc:"number of nearest neighbors of each item that become edges"`
	Lists     string   `json:"graph_lists,omitempty" doc:"file of neighbor lists that become edges"`
	Random    int      `json:"graph_random,omitempty" doc:"number of random edges of each item"`
	Solver    string   `json:"solver" doc:"'auto' or the name of a solver"`
	Starts    []string `json:"starts,omitempty" doc:"initial clusterings of the factored solver"`
	Rounds    int      `json:"rounds,omitempty" doc:"largest number of rounds"`
	Restarts  int      `json:"restarts,omitempty" doc:"restarts of 'factored' and 'kl'; 0 is the default, negative is none"`
	MinSize   int      `json:"min_cluster_size,omitempty" doc:"smaller clusters are dissolved (factored solver)"`
	Bound     string   `json:"bound" doc:"'auto', 'none', 'trivial', 'triangle' or 'cycle'"`
	Matrix    int64    `json:"matrix_limit_bytes,omitempty" doc:"largest cost matrix in bytes"`
	Alone     bool     `json:"no_comparison,omitempty" doc:"whether the comparison with other clusterings was left out"`
}

// AgglomerativeOptions are those of agglomerative clustering, but for k.
type AgglomerativeOptions struct {
	Linkage   string           `json:"linkage" doc:"linkage"`
	Cut       bool             `json:"cut,omitempty" doc:"whether the tree is cut at a distance instead of at a number of clusters"`
	Threshold ThresholdOptions `json:"threshold,omitzero" doc:"distance at which the tree is cut"`
	Memory    int64            `json:"memory_limit_bytes,omitempty" doc:"largest distance matrix in bytes; 0 is 4 GiB"`
}

// HDBSCANOptions are those of hdbscan.
type HDBSCANOptions struct {
	MinClusterSize int     `json:"min_cluster_size" doc:"smallest cluster"`
	MinSamples     int     `json:"min_samples,omitempty" doc:"neighbors, including the point itself, that make a core point; 0 is 'min_cluster_size'"`
	Selection      string  `json:"selection" doc:"'eom' or 'leaf'"`
	Epsilon        float64 `json:"epsilon,omitempty" doc:"clusters nearer than this are merged"`
}

// MapOptions says what maps are made.
type MapOptions struct {
	Kind       string  `json:"kind" doc:"'tsne', 'pca', 'both', 'none' or 'auto'"`
	Perplexity float64 `json:"perplexity,omitempty" doc:"perplexity of t-SNE"`
	Iterations int     `json:"iterations,omitempty" doc:"iterations of t-SNE"`
	Theta      float64 `json:"theta,omitempty" doc:"accuracy of the Barnes-Hut approximation; 0 is exact"`
}
