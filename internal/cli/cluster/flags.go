package cluster

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/solve"
	"tercet/internal/text"
)

// declare declares the flags of tercet cluster.
func (o *options) declare(cmd *cobra.Command) {
	o.AddRun(cmd)
	o.AddFiles(cmd)
	o.AddOutcome(cmd, "nmi=0.8")
	fs := cmd.Flags()
	fs.StringVar(&o.graph, "graph", "", "cluster the nodes of a graph: `FILE` in the MULTICUT text format, lines \"i j cost\", cost > 0 joins")
	fs.StringVar(&o.method, "method", "auto", "kmeans, multicut, agglomerative or hdbscan; auto: see above")
	fs.StringVarP(&o.k, "clusters", "k", "0", "k-means, agglomerative: number of clusters; 0 takes the number of classes (of a run: by default eval.kmeans.k of its config); k-means: the one with the best silhouette of `K` as 2..20 or 5,10,20; auto is 2..20")
	fs.IntVar(&o.nInit, "n-init", 10, "k-means: number of starts; the best counts (with --mini-batch 3)")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of starts, samples and maps")
	fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; without one, the run's directory (files: write nothing)")
	fs.BoolVar(&o.force, "force", false, "replace a clustering that has more, or is by another method or other settings")
	fs.BoolVar(&o.spherical, "spherical", false, "k-means: by direction, whatever the length; the inertia is the sum over rows x with center c of |x/|x| - c/|c||^2 = 2 (1 - cos(x, c))")
	fs.IntVar(&o.miniBatch, "mini-batch", 0, "k-means: rows a step, for very many items; 0, or more than there are, takes all")
	fs.IntVar(&o.sample, "silhouette-sample", 0, "k-means with several k: items that the silhouette is measured on, 0 for all")
	fs.StringVar(&o.solver, "solver", "auto", "multicut: "+strings.Join(solve.Solvers(), ", ")+"; auto is factored for all pairs of points, else kl; exact proves its answer, which can take exponentially long: for small graphs")
	fs.StringVar(&o.threshold, "threshold", "auto", "multicut, agglomerative: `DISTANCE` below which two items belong together, margins (of the run's loss), fit (to held-out data), or auto: margins where there are such, else fit")
	fs.StringVar(&o.link, "link", "squared", "multicut: cost of a pair, squared: s (t^2 - d^2), distance: s (t - d), or fitted: squared with t and s fitted")
	fs.Float64Var(&o.scale, "scale", 0, "multicut: s of the link, which matters only with --clip or --bias; 0 takes that of the fit or of the margins")
	fs.Float64Var(&o.clip, "clip", 0, "multicut: keep probabilities off 0 and 1 by this much, such as 0.001; the costs do not factorize then")
	fs.Float64Var(&o.bias, "bias", 0.5, "multicut: above 0.5 favors cuts, below joins; adds log((1-b)/b) to each cost")
	fs.StringVar(&o.fitX, "fit-embeddings", "", "npy `FILE` of labeled held-out embeddings for --threshold fit (a run has its own)")
	fs.StringVar(&o.fitY, "fit-labels", "", "npy or csv `FILE` of their labels")
	fs.StringVar(&o.fitPrior, "fit-prior", "balanced", "fit: pairs of one class count as half of all (balanced), or as many as they are (pairs)")
	fs.StringSliceVar(&o.starts, "starts", nil, "factored solver: where it starts, the best answer counts: `LIST` of "+strings.Join(FactoredStarts, ", "))
	fs.IntVar(&o.rounds, "rounds", 0, "solvers factored and kl: rounds at most; 0: 100")
	fs.IntVar(&o.restarts, "restarts", 0, "solvers factored and kl: how often random clusters are dissolved and the solution is improved again; 0: chosen by size (factored) or none (kl); -1: none")
	fs.IntVar(&o.minSize, "min-cluster-size", 0, "factored solver: dissolve smaller clusters into others; hdbscan: smallest cluster, 5 by default")
	fs.StringVar(&o.bound, "bound", "auto", "multicut, lower bound: none, trivial, triangle (complete graphs), cycle (sparse ones), or auto: the best that is quick; cycle goes as far as its search does, auto ends it after some seconds")
	fs.IntVar(&o.near, "graph-neighbors", 0, "multicut on a sparse graph: nearest neighbors of each item, at most half of all")
	fs.IntVar(&o.random, "graph-random", 0, "multicut on a sparse graph: random partners of each item")
	fs.Float64Var(&o.matrix, "matrix-limit", 0, "memory for all costs or distances of pairs, in `GiB`; 0: 2 for multicut, 4 for agglomerative")
	fs.BoolVar(&o.noComparison, "no-comparison", false, "multicut: leave out what the ground truth and k-means cost")
	fs.StringVar(&o.linkage, "linkage", "average", "agglomerative: average, complete or ward")
	fs.IntVar(&o.minSamples, "min-samples", 0, "hdbscan: points within the distance at which a point counts as dense, the point itself among them (as in scikit-learn); 0: as --min-cluster-size")
	fs.StringVar(&o.selection, "selection", "eom", "hdbscan: clusters of the tree by excess of mass (eom), or its leaves (leaf)")
	fs.Float64Var(&o.epsilon, "epsilon", 0, "hdbscan: clusters closer than this are merged")
	fs.StringVar(&o.mapKind, "map", "auto", "maps of the items: tsne, pca, both, none; auto: pca, and tsne of at most "+strconv.Itoa(solve.AutoMap)+" items")
	fs.Float64Var(&o.perplexity, "perplexity", 30, "t-SNE: effective number of neighbors")
	fs.IntVar(&o.mapIterations, "map-iterations", 1000, "t-SNE: iterations, the first 250 exaggerated")
	fs.Float64Var(&o.theta, "theta", 0.5, "t-SNE: coarseness of far forces, 0 for exact ones")
	cmd.MarkFlagsMutuallyExclusive("run", "graph")
	cmd.MarkFlagsMutuallyExclusive("embeddings", "graph")
	cmd.MarkFlagsMutuallyExclusive("run", "fit-embeddings")
	base.OldNames(fs, "out", "out-dir", "graph-neighbours", "graph-neighbors")
	cmd.MarkFlagsRequiredTogether("fit-embeddings", "fit-labels")
	o.changed = fs.Changed
}

var FactoredStarts = []string{"one", "singletons", "kmeans", "gaec", "klj"}

// flagMethods are the methods that heed a flag, in the order in which a flag suggests
// one.
var flagMethods = []struct {
	flag    string
	methods []string
}{
	{"clusters", []string{"kmeans", "agglomerative"}},
	{"spherical", []string{"kmeans"}},
	{"mini-batch", []string{"kmeans"}},
	{"silhouette-sample", []string{"kmeans"}},
	{"n-init", []string{"kmeans", "multicut"}}, // of k-means to compare with
	{"solver", []string{"multicut"}},
	{"link", []string{"multicut"}},
	{"scale", []string{"multicut"}},
	{"clip", []string{"multicut"}},
	{"bias", []string{"multicut"}},
	{"starts", []string{"multicut"}},
	{"rounds", []string{"multicut"}},
	{"restarts", []string{"multicut"}},
	{"bound", []string{"multicut"}},
	{"graph-neighbors", []string{"multicut"}},
	{"graph-random", []string{"multicut"}},
	{"no-comparison", []string{"multicut"}},
	{"linkage", []string{"agglomerative"}},
	{"min-samples", []string{"hdbscan"}},
	{"selection", []string{"hdbscan"}},
	{"epsilon", []string{"hdbscan"}},
	{"threshold", []string{"multicut", "agglomerative"}},
	{"fit-embeddings", []string{"multicut", "agglomerative"}},
	{"fit-prior", []string{"multicut", "agglomerative"}},
	{"min-cluster-size", []string{"multicut", "hdbscan"}},
	{"matrix-limit", []string{"multicut", "agglomerative"}},
}

// suggest replaces the method auto by what the flags decide.
func (o *options) suggest() {
	if o.method != "auto" {
		return
	}
	if o.graph != "" {
		o.method = solve.Multicut
		return
	}
	for _, single := range []bool{true, false} {
		for _, f := range flagMethods {
			if f.flag != "n-init" && o.changed(f.flag) && (len(f.methods) == 1) == single {
				o.method = f.methods[0]
				return
			}
		}
	}
}

// heeded refuses flags that the method does not heed, and those of points with a
// graph.
func (o *options) heeded() error {
	for _, f := range flagMethods {
		if o.method != "auto" && o.changed(f.flag) && !slices.Contains(f.methods, o.method) {
			hint := ""
			if f.flag == "clusters" && o.method == solve.Multicut {
				hint = "; multicut finds their number itself"
			}
			return base.Usagef("--%s is for %s, not for %s%s", f.flag, text.List(f.methods, "or"), o.method, hint)
		}
	}
	if o.graph == "" {
		return nil
	}
	for _, flag := range []string{
		"link", "scale", "clip", "bias", "threshold", "fit-embeddings", "fit-prior", "graph-neighbors", "graph-random", "starts", "min-cluster-size", "n-init",
		"matrix-limit", "map", "perplexity", "map-iterations", "theta",
	} {
		if o.changed(flag) {
			return base.Usagef("--%s is about points; --graph gives costs and no points", flag)
		}
	}
	if o.method != solve.Multicut {
		return base.Usagef("--graph gives costs and no points; it is for multicut, not for %s", o.method)
	}
	if o.solver == "factored" {
		return base.Usagef("--solver factored is for points; for a graph take kl, exact, or another")
	}
	return nil
}

// checkCluster refuses what is wrong whatever the data.
func (o *options) checkCluster() ([]base.Gate, error) {
	if o.Run == "" && o.Embeddings == "" && o.graph == "" {
		return nil, base.Usagef("name what to cluster: --run DIRECTORY, --embeddings FILE.npy, or --graph FILE")
	}
	if o.graph == "" {
		if err := o.Check(); err != nil {
			return nil, err
		}
	} else if o.Limit > 0 || o.Set != "test" || o.Checkpoint != "last" {
		return nil, base.Usagef("--limit, --split and --checkpoint go with --run")
	}
	if err := outFolder(o.out); err != nil {
		return nil, err
	}
	o.suggest()
	for _, check := range []func() error{o.words, o.heeded, o.numbers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return o.clusterGates()
}

// words refuses words that a flag does not know.
func (o *options) words() error {
	for _, c := range []struct {
		flag, value string
		valid       []string
	}{
		{"method", o.method, append([]string{"auto"}, solve.Methods()...)},
		{"solver", o.solver, append([]string{"auto"}, solve.Solvers()...)},
		{"link", o.link, []string{"squared", "distance", "fitted"}},
		{"fit-prior", o.fitPrior, []string{"balanced", "pairs"}},
		{"bound", o.bound, []string{"auto", "none", "trivial", "triangle", "cycle"}},
		{"linkage", o.linkage, []string{"average", "complete", "ward"}},
		{"selection", o.selection, []string{"eom", "leaf"}},
		{"map", o.mapKind, []string{"auto", "tsne", "pca", "both", "none"}},
	} {
		if !slices.Contains(c.valid, c.value) {
			return base.Usagef("--%s is %q; give %s", c.flag, c.value, text.List(c.valid, "or"))
		}
	}
	for _, s := range o.starts {
		if !slices.Contains(FactoredStarts, s) {
			return base.Usagef("--starts names %q; there are: %s", s, strings.Join(FactoredStarts, ", "))
		}
	}
	return nil
}

// numbers refuses numbers outside their range, and flags that do not go together.
func (o *options) numbers() error {
	err := base.AtLeast(base.FlagCount{Flag: "n-init", Value: o.nInit, Least: 1}, base.FlagCount{Flag: "mini-batch", Value: o.miniBatch, Least: 0}, base.FlagCount{Flag: "silhouette-sample", Value: o.sample, Least: 0},
		base.FlagCount{Flag: "rounds", Value: o.rounds, Least: 0}, base.FlagCount{Flag: "restarts", Value: o.restarts, Least: -1}, base.FlagCount{Flag: "min-cluster-size", Value: o.minSize, Least: 0}, base.FlagCount{Flag: "graph-neighbors", Value: o.near, Least: 0},
		base.FlagCount{Flag: "graph-random", Value: o.random, Least: 0}, base.FlagCount{Flag: "min-samples", Value: o.minSamples, Least: 0}, base.FlagCount{Flag: "map-iterations", Value: o.mapIterations, Least: 1})
	if err != nil {
		return err
	}
	for _, f := range []struct {
		flag        string
		value       float64
		least, most float64
		open        bool // the ends are outside
	}{
		{"scale", o.scale, 0, math.MaxFloat64, false}, {"clip", o.clip, 0, 0.49, false}, {"bias", o.bias, 0, 1, true},
		{"epsilon", o.epsilon, 0, math.MaxFloat64, false}, {"matrix-limit", o.matrix, 0, 1 << 20, false},
		{"perplexity", o.perplexity, 1, 1e6, false}, {"theta", o.theta, 0, 1, false},
	} {
		in := f.value >= f.least && f.value <= f.most
		if f.open {
			in = f.value > f.least && f.value < f.most
		}
		switch {
		case in:
		case f.open:
			return base.Usagef("--%s is %v; give a number between %v and %v", f.flag, f.value, f.least, f.most)
		case f.most >= 1e6:
			return base.Usagef("--%s is %v; give a finite number, at least %v", f.flag, f.value, f.least)
		default:
			return base.Usagef("--%s is %v; give a number from %v to %v", f.flag, f.value, f.least, f.most)
		}
	}
	switch sparse := o.near > 0 || o.random > 0; {
	case sparse && o.solver == "factored":
		return base.Usagef("--solver factored takes all pairs; leave out --graph-neighbors and --graph-random, or take another solver")
	case sparse && o.near == 0:
		return base.Usagef("--graph-random needs --graph-neighbors: random pairs alone do not say which items belong together")
	case o.solver != "auto" && o.solver != "factored" && (o.starts != nil || o.minSize > 0 && o.method == solve.Multicut):
		return base.Usagef("--starts and --min-cluster-size are for --solver factored, not %s", o.solver)
	case (o.rounds > 0 || o.restarts != 0) && o.solver != "auto" && o.solver != "kl" && o.solver != "factored":
		return base.Usagef("--rounds and --restarts are for the solvers factored and kl, not %s", o.solver)
	case sparse && (o.starts != nil || o.minSize > 0):
		return base.Usagef("--starts and --min-cluster-size are for --solver factored, which takes all pairs: leave out --graph-neighbors")
	case o.method == solve.HDBSCAN && o.changed("min-cluster-size") && o.minSize < 2:
		return base.Usagef("--min-cluster-size is %d; give at least 2", o.minSize)
	}
	return o.thresholdWord()
}

// thresholdWord refuses thresholds that are none, and those that the method or link
// does not go with.
func (o *options) thresholdWord() error {
	from, _, err := o.thresholdSource()
	switch {
	case err != nil:
		return err
	case o.link == "fitted" && from != solve.FromAuto && from != solve.FromFit:
		return base.Usagef("--link fitted takes its threshold from the fit; leave out --threshold %s, or take --link squared", o.threshold)
	case o.fitX != "" && from != solve.FromFit && from != solve.FromAuto:
		return base.Usagef("--fit-embeddings is for --threshold fit, not %s", o.threshold)
	case from == solve.FromMargins && o.Run == "":
		return base.Usagef("--threshold margins is that of a run's loss: it goes with --run")
	case o.method == solve.Agglomerative && o.changed("threshold") && o.changed("clusters"):
		return base.Usagef("agglomerative clustering ends at a number of clusters or at a distance: give one of -k and --threshold")
	case o.method == solve.Agglomerative && o.linkage == "ward" && o.changed("threshold") && from != solve.FromValue:
		return base.Usagef("the distances of ward linkage are not those of pairs: give --threshold as a number, or another --linkage")
	}
	return nil
}
