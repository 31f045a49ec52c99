package cluster

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/solve"
	"tercet/internal/text"
)

// declare declares the flags of tercet cluster. Those of some methods alone say so by
// their heading and are refused with others.
func (o *options) declare(cmd *cobra.Command) {
	fs := cmd.Flags()
	o.AddRun(cmd)
	o.AddFiles(cmd)
	fs.StringVar(&o.graph, "graph", "", "cluster the nodes of a graph: `FILE` in the MULTICUT text format, lines \"i j cost\", cost > 0 joins")
	base.Group(fs, "Input")
	base.Words(fs, &o.method, "method", "auto", append([]string{"auto"}, solve.Methods()...), "kmeans, multicut, agglomerative or hdbscan; auto: see above")
	fs.Uint64Var(&o.seed, "seed", 0, "seed of starts, samples and maps")
	base.Group(fs, "Method")
	o.declareKMeans(fs)
	o.declareThreshold(fs)
	o.declareMulticut(fs)
	o.declareTrees(fs)
	base.Words(fs, &o.mapKind, "map", "auto", []string{"auto", "tsne", "pca", "both", "none"}, "maps of the items: tsne, pca, both, none; auto: pca, and tsne of at most "+strconv.Itoa(solve.AutoMap)+" items")
	fs.Float64Var(&o.perplexity, "perplexity", 30, "t-SNE: effective number of neighbors")
	fs.IntVar(&o.mapIterations, "map-iterations", 1000, "t-SNE: iterations, the first 250 exaggerated")
	fs.Float64Var(&o.theta, "theta", 0.5, "t-SNE: Barnes-Hut approximation of far forces, 0: exact")
	base.Group(fs, "Maps")
	o.AddOutcome(cmd, "nmi=0.8")
	fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; default: the run's directory (for embeddings or graphs: nothing is written)")
	fs.BoolVar(&o.force, "force", false, "replace an existing clustering even if it has more, or another method or settings")
	base.Group(fs, "Output")
	base.Exclusive(cmd, "run", "graph", "fit-embeddings")
	base.Exclusive(cmd, "embeddings", "graph")
	base.Least(fs, 0, "mini-batch", "silhouette-sample", "rounds", "min-cluster-size", "graph-neighbors", "graph-random", "min-samples")
	base.Least(fs, 1, "n-init", "map-iterations")
	base.OldNames(fs, "out", "out-dir", "graph-neighbours", "graph-neighbors")
	base.OldValues(fs, "restarts", "0", restartsAuto, "-1", restartsNone)
	cmd.MarkFlagsMutuallyExclusive("task", "merge")
	cmd.MarkFlagsRequiredTogether("fit-embeddings", "fit-labels")
	o.flags = fs
}

// declareKMeans declares the flags of k-means.
func (o *options) declareKMeans(fs *pflag.FlagSet) {
	fs.StringVarP(&o.k, "clusters", "k", "0", "number of clusters, also for agglomerative; 0: the number of classes (default for a run: eval.kmeans.k of its config). For k-means `K` can be a range 2..20 or a list 5,10,20, of which the best silhouette score decides; auto is 2..20")
	fs.BoolVar(&o.spherical, "spherical", false, "spherical k-means: only directions count; the inertia is the sum over rows x with center c of |x/|x| - c/|c||^2 = 2 (1 - cos(x, c))")
	fs.IntVar(&o.miniBatch, "mini-batch", 0, "mini-batch k-means with this many rows per step, for very many items; 0: all rows in each step")
	fs.IntVar(&o.sample, "silhouette-sample", 0, "with several k: number of items for the silhouette score, 0 for all")
	fs.IntVar(&o.nInit, "n-init", 10, "number of starts, of which the best is kept (3 with --mini-batch); with multicut, starts of the k-means to compare with")
	fs.StringVar(&o.task, "task", "", "run only share `i/n` of the starts (i from 1), or auto/n with the scheduler's index; combine with --merge")
	fs.BoolVar(&o.merge, "merge", false, "combine the results of all tasks with the same --out-dir")
	base.Only(fs, []string{solve.KMeans, solve.Agglomerative}, "clusters")
	base.Only(fs, []string{solve.KMeans, solve.Multicut}, "n-init")
	base.Group(fs, "k-means", solve.KMeans)
}

// declareThreshold declares the flags of methods that join items up to a distance.
func (o *options) declareThreshold(fs *pflag.FlagSet) {
	fs.StringVar(&o.threshold, "threshold", "auto", "`DISTANCE` below which two items attract each other; margins: from the run's loss; fit: fitted to held-out data; auto: margins if the loss has them, else fit")
	fs.StringVar(&o.fitX, "fit-embeddings", "", "npy `FILE` of labeled held-out embeddings for --threshold fit (not needed for a run)")
	fs.StringVar(&o.fitY, "fit-labels", "", "npy or csv `FILE` of their labels")
	base.Words(fs, &o.fitPrior, "fit-prior", "balanced", []string{"balanced", "pairs"}, "for --threshold fit: weight pairs so that same-class pairs make up half (balanced), or count each pair once (pairs)")
	fs.Float64Var(&o.matrix, "matrix-limit", 0, "memory limit for the matrix of pairwise costs or distances, in `GiB`; 0: 2 for multicut, 4 for agglomerative")
	base.Group(fs, "Multicut and agglomerative", solve.Multicut, solve.Agglomerative)
}

// declareMulticut declares the flags of multicut.
func (o *options) declareMulticut(fs *pflag.FlagSet) {
	base.Words(fs, &o.solver, "solver", "auto", append([]string{"auto"}, solve.Solvers()...), strings.Join(solve.Solvers(), ", ")+"; auto is factored for all pairs of points, else kl; exact finds and proves the optimum, for small graphs only, because time can grow exponentially")
	base.Words(fs, &o.link, "link", "squared", []string{"squared", "distance", "fitted"}, "cost of a pair at distance d, with threshold t and scale s. squared: s (t^2 - d^2); distance: s (t - d); fitted: squared with t and s fitted")
	fs.Float64Var(&o.scale, "scale", 0, "scale s of the link, which matters only with --clip or --bias; 0: the scale of the fit or of the margins")
	fs.Float64Var(&o.clip, "clip", 0, "keep join probabilities at least this far from 0 and 1, such as 0.001; costs then do not factorize")
	fs.Float64Var(&o.bias, "bias", 0.5, "values above 0.5 favor cuts, below 0.5 joins; adds log((1-b)/b) to each cost")
	fs.StringSliceVar(&o.starts, "starts", nil, "factored solver: initial partitions, of which the best result is kept: `LIST` of "+strings.Join(FactoredStarts, ", "))
	fs.IntVar(&o.minSize, "min-cluster-size", 0, "factored solver: dissolve smaller clusters into others; hdbscan: smallest cluster size, default 5")
	fs.IntVar(&o.rounds, "rounds", 0, "solvers factored and kl: maximum number of rounds; 0: 100")
	fs.StringVar(&o.restarts, "restarts", restartsAuto, "of the solvers factored and kl: how often random clusters are dissolved and the solution is improved again: `N`, none, or auto: by size (factored), none (kl)")
	base.Words(fs, &o.bound, "bound", "auto", []string{"auto", "none", "trivial", "triangle", "cycle"}, "lower bound: none, trivial, triangle (complete graphs), cycle (sparse graphs), or auto: the best quick one, with cycle limited to some seconds")
	fs.IntVar(&o.near, "graph-neighbors", 0, "sparse graph: nearest neighbors per item, at most half of all items")
	fs.StringVar(&o.lists, "graph-lists", "", "sparse graph: `FILE` of neighbor lists from another program (npy, ibin, ivecs), instead of --graph-neighbors")
	fs.IntVar(&o.random, "graph-random", 0, "sparse graph: random partners per item")
	fs.StringVar(&o.saveGraph, "save-graph", "", "write the sparse graph to `FILE` in the MULTICUT text format, as read by RAMA and LPMP")
	fs.BoolVar(&o.noComparison, "no-comparison", false, "do not compute the objective of the ground truth and of k-means")
	base.Only(fs, []string{solve.Multicut, solve.HDBSCAN}, "min-cluster-size")
	base.Group(fs, "Multicut", solve.Multicut)
}

// declareTrees declares the flags of the other methods.
func (o *options) declareTrees(fs *pflag.FlagSet) {
	base.Words(fs, &o.linkage, "linkage", "average", []string{"average", "complete", "ward"}, "average, complete or ward")
	base.Group(fs, "Agglomerative", solve.Agglomerative)
	fs.IntVar(&o.minSamples, "min-samples", 0, "neighbors (including the point itself) that make a core point, as in scikit-learn; 0: as --min-cluster-size")
	base.Words(fs, &o.selection, "selection", "eom", []string{"eom", "leaf"}, "choose clusters of the tree by excess of mass (eom), or its leaves (leaf)")
	fs.Float64Var(&o.epsilon, "epsilon", 0, "merge clusters closer than this distance")
	base.Group(fs, "HDBSCAN", solve.HDBSCAN)
}

// FactoredStarts are the values of --starts.
var FactoredStarts = []string{"one", "singletons", "kmeans", "gaec", "klj"}

// suggest replaces the method auto by what the flags decide.
func (o *options) suggest() {
	if o.method != "auto" {
		return
	}
	if o.graph != "" {
		o.method = solve.Multicut
		return
	}
	var several string
	base.Modal(o.flags, func(flag string, methods []string) {
		switch {
		case flag == "n-init" || o.method != "auto":
		case len(methods) == 1:
			o.method = methods[0]
		case several == "":
			several = methods[0]
		}
	})
	if o.method == "auto" && several != "" {
		o.method = several
	}
}

// heeded refuses flags that the method does not heed, and those of points with a
// graph.
func (o *options) heeded() error {
	if wrong := base.Misplaced(o.flags, o.method); o.method != "auto" && len(wrong) > 0 {
		hint := ""
		if wrong[0] == "clusters" && o.method == solve.Multicut {
			hint = "; multicut finds their number itself"
		}
		return base.Usagef("--%s is for %s, not for %s%s", wrong[0], text.List(base.Modes(o.flags, wrong[0]), "or"), o.method, hint)
	}
	if o.graph == "" {
		return nil
	}
	for _, flag := range []string{
		"link", "scale", "clip", "bias", "threshold", "fit-embeddings", "fit-prior", "graph-neighbors", "graph-lists", "graph-random", "save-graph", "starts", "min-cluster-size", "n-init",
		"matrix-limit", "map", "perplexity", "map-iterations", "theta",
	} {
		if o.flags.Changed(flag) {
			return base.Usagef("--%s needs points; --graph gives only costs", flag)
		}
	}
	if o.method != solve.Multicut {
		return base.Usagef("--graph gives only costs, no points: use multicut, not %s", o.method)
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
		return nil, base.Usagef("--limit, --split and --checkpoint need --run")
	}
	if err := outFolder(o.out, solve.Files(), o.inputs()...); err != nil {
		return nil, err
	}
	if o.saveGraph != "" {
		if err := base.Writable(o.saveGraph); err != nil {
			return nil, err
		}
		if err := base.NotInput("--save-graph", o.saveGraph, o.inputs()...); err != nil {
			return nil, err
		}
	}
	o.suggest()
	for _, check := range []func() error{o.knownStarts, o.heeded, o.numbers} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return o.clusterGates()
}

// knownStarts refuses starts that there are not.
func (o *options) knownStarts() error {
	for _, s := range o.starts {
		if !slices.Contains(FactoredStarts, s) {
			return base.Usagef("--starts: unknown start %q; valid: %s", s, strings.Join(FactoredStarts, ", "))
		}
	}
	return nil
}

// numbers refuses numbers outside their range, and flags that do not go together.
func (o *options) numbers() error {
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
	restarts, err := o.restartCount()
	if err != nil {
		return err
	}
	switch sparse := o.near > 0 || o.random > 0 || o.lists != ""; {
	case o.near > 0 && o.lists != "":
		return base.Usagef("--graph-neighbors searches for neighbors and --graph-lists reads them: give one of them")
	case o.saveGraph != "" && !sparse:
		return base.Usagef("--save-graph writes a sparse graph: give --graph-neighbors or --graph-lists")
	case sparse && o.solver == "factored":
		return base.Usagef("--solver factored takes all pairs; leave out %s, or use another solver", base.Given(o.flags.Changed, "graph-neighbors", "graph-lists", "graph-random"))
	case sparse && o.near == 0 && o.lists == "":
		return base.Usagef("--graph-random needs --graph-neighbors or --graph-lists: random pairs alone do not say which items belong together")
	case o.solver != "auto" && o.solver != "factored" && (o.starts != nil || o.minSize > 0 && o.method == solve.Multicut):
		return base.Usagef("--starts and --min-cluster-size are for --solver factored, not %s", o.solver)
	case (o.rounds > 0 || restarts != 0) && o.solver != "auto" && o.solver != "kl" && o.solver != "factored":
		return base.Usagef("--rounds and --restarts are for the solvers factored and kl, not %s", o.solver)
	case sparse && (o.starts != nil || o.minSize > 0):
		return base.Usagef("--starts and --min-cluster-size are for --solver factored, which takes all pairs: leave out %s", base.Given(o.flags.Changed, "graph-neighbors", "graph-lists"))
	case o.method == solve.HDBSCAN && o.flags.Changed("min-cluster-size") && o.minSize < 2:
		return base.Usagef("--min-cluster-size is %d; give at least 2", o.minSize)
	}
	if given := base.Given(o.flags.Changed, "perplexity", "map-iterations", "theta"); given != "" && (o.mapKind == "none" || o.mapKind == "pca") {
		return base.Usagef("%s: only for t-SNE, which --map %s does not draw", given, o.mapKind)
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
		return base.Usagef("--link fitted takes its threshold from the fit; leave out --threshold %s, or use --link squared", o.threshold)
	case o.fitX != "" && from != solve.FromFit && from != solve.FromAuto:
		return base.Usagef("--fit-embeddings is for --threshold fit, not %s", o.threshold)
	case o.flags.Changed("fit-prior") && from != solve.FromFit && from != solve.FromAuto:
		return base.Usagef("--fit-prior is for --threshold fit, not %s", o.threshold)
	case from == solve.FromMargins && o.Run == "":
		return base.Usagef("--threshold margins takes the margins of a run's loss: it needs --run")
	case o.method == solve.Agglomerative && o.flags.Changed("threshold") && o.flags.Changed("clusters"):
		return base.Usagef("agglomerative clustering ends at a number of clusters or at a distance: give one of -k and --threshold")
	case o.method == solve.Agglomerative && o.linkage == "ward" && o.flags.Changed("threshold") && from != solve.FromValue:
		return base.Usagef("the distances of ward linkage are not those of pairs: give --threshold as a number, or another --linkage")
	}
	return nil
}
