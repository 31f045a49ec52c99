package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/link"
	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/solve"
	"tercet/internal/cluster/tsne"
	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/progress"
	"tercet/internal/run"
	"tercet/internal/text"
)

type options struct {
	base.Subject
	base.Outcome
	graph  string
	method string
	force  bool
	k      string // a number, or several
	nInit  int
	seed   uint64
	out    string
	// k-means
	spherical bool
	miniBatch int
	sample    int
	task      string
	merge     bool
	// multicut
	solver        string
	threshold     string
	link          string
	scale         float64
	clip, bias    float64
	fitX, fitY    string
	fitPrior      string
	starts        []string
	rounds        int
	restarts      string
	minSize       int
	bound         string
	near, random  int
	lists         string
	saveGraph     string
	matrix        float64 // GiB
	noComparison  bool
	linkage       string
	minSamples    int
	selection     string
	epsilon       float64
	mapKind       string
	perplexity    float64
	mapIterations int
	theta         float64
	flags         *pflag.FlagSet
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "cluster [RUN]",
		Short: "Cluster embeddings, with or without a known number of clusters, and score the clusters",
		Long: `
Clusters the embeddings of a run's test images, those in any npy file, or the nodes of a
graph:

  multicut       finds the number of clusters itself: pairs closer than a threshold
                 attract each other, the others repel. It minimizes the total cost of
                 the pairs that it separates. The threshold comes from the margins of
                 the run's loss, from a fit to held-out data, or from --threshold
  kmeans         k clusters, by default one per class; -k auto chooses k by the
                 silhouette score
  agglomerative  merges the nearest clusters until k are left, or up to a distance
  hdbscan        finds dense regions; items outside them are noise

Without --method, a flag that only one method has selects that method (-k: kmeans).
Otherwise the method is multicut for a graph and for a run whose loss fixes a threshold,
else kmeans.

Multicut uses all pairs of items. The factored solver does this without a cost matrix.
The other solvers need the matrix of all costs, or a sparse graph: nearest neighbors
(--graph-neighbors) or neighbor lists from another program (--graph-lists), plus random
pairs (--graph-random). The result is printed with a lower bound and with the objective
values of the ground truth and of k-means. They show whether errors come from the edge
costs or from the solver.

If labels are known, the clusters are scored against them. The command writes
cluster.json, labels.npy, clusters.safetensors (for tercet cluster assign) and pictures
into the run's directory, or into --out-dir. Results of other images or weights go into
RUN/cluster-validation, RUN/cluster-best and so on. An existing clustering of a run is
replaced only with --force, or if the new one covers it: the same method and settings, at
least as many images, and its maps and comparison.

--task divides the starts of k-means among machines, which write
cluster.json.part-i-of-n; --merge combines them. The result is bit-identical to that of
one process.`,
		Examples: []base.Example{
			{Why: "a run's test images, by multicut if its loss fixes a threshold, else by k-means", Line: "tercet cluster --run runs/first"},
			{Why: "multicut, its threshold fitted to held-out images of the run", Line: "tercet cluster --run runs/first --method multicut --threshold fit --out-dir clusters"},
			{Why: "embeddings from another tool: pairs closer than 0.8 attract each other", Line: "tercet cluster --embeddings X.npy --method multicut --threshold 0.8 --out-dir clusters"},
			{Why: "k-means, k by the silhouette", Line: "tercet cluster --embeddings X.npy --labels Y.npy -k 2..12 --map none"},
			{Why: "density-based, in a script: exit code 4 unless NMI is at least 0.5", Line: "tercet cluster --embeddings X.npy --labels Y.npy --method hdbscan --min-cluster-size 4 --fail-under nmi=0.5"},
		},
		Exits: []int{base.ExitData, base.ExitGate, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) { o.declare(cmd) },
		Run:   func(ctx context.Context, _ []string) error { return runCluster(ctx, s, o) },
		Subs:  []*cobra.Command{newAssign(s)},
	}.Build()
}

func runCluster(ctx context.Context, s *base.Streams, o options) error {
	gates, err := o.checkCluster()
	if err != nil {
		return err
	}
	defer base.SaveMemory(o.graph, o.Embeddings, o.Labels)()
	view := &base.Stages{Streams: s}
	defer view.Close()
	var c *solve.Result
	if o.Run != "" {
		c, err = o.clusterRun(ctx, s, view)
	} else {
		c, err = o.clusterFile(ctx, view)
	}
	if err != nil {
		return clusterError(ctx, view, err)
	}
	view.Close()
	if t := c.Task; t != nil {
		return s.Line(t, "%s: %s of k-means; when all %d tasks have ended, replace --task by --merge", t.Starts, text.Count(t.Count, "start"), t.Tasks)
	}
	s.Warn(c.Doc.Warnings...)
	if o.out != "" {
		if err := o.write(s, c); err != nil {
			return err
		}
	}
	if err := o.writeGraph(s, c.Graph); err != nil {
		return err
	}
	if err := s.Result(c.Doc, func(w io.Writer) error { return ClusterTable(c.Doc).Write(w, o.Format) }); err != nil {
		return err
	}
	if o.out == "" {
		s.Note("labels are not written; --out-dir FOLDER writes them")
	}
	if c.Stopped != nil {
		return fmt.Errorf("%w: the clusters are written, but not everything else that was requested", stoppedBy(ctx))
	}
	return base.CheckGates(gates, c.Doc.Clustering)
}

// told is stages.say for stages with a note behind a tab: what it says may change.
func told(v *base.Stages) progress.Say {
	return func(stage string, done, total int) {
		name, note, _ := strings.Cut(stage, "\t")
		if v.Say(name, 0, total); note != "" {
			v.Bar.Add(int64(max(0, done-v.Done)), "%s", note)
			v.Done = max(v.Done, done)
			return
		}
		v.Say(name, done, total)
	}
}

// clusterError gives errors of the clustering packages their exit codes, and says of
// an interruption in which stage it came.
func clusterError(ctx context.Context, view *base.Stages, err error) error {
	var option *option.Error
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		during := ""
		if view.Name != "" {
			during = fmt.Sprintf(" during %q", view.Name)
		}
		return fmt.Errorf("%w%s: there are no clusters yet, and nothing is written", stoppedBy(ctx), during)
	case errors.As(err, &option):
		return &base.ExitError{Code: base.ExitUsage, Err: err}
	case errors.Is(err, multicut.ErrInput), errors.Is(err, link.ErrInput), errors.Is(err, tsne.ErrInput), errors.Is(err, data.ErrMissing):
		return &base.ExitError{Code: base.ExitData, Err: err}
	}
	return base.RunError(err)
}

// stoppedBy is why ctx ended, in plain words.
func stoppedBy(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return base.ErrInterrupted
}

// outFolder refuses an --out-dir that is a file.
// outFolder refuses a path, "" for none, that is no folder, and one in which the files of
// these names are among the inputs, whatever is forced.
func outFolder(path string, names []string, inputs ...string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return base.Usagef("--out-dir %s is a file; give a folder, which need not exist yet", path)
	}
	for _, name := range names {
		if err := base.NotInput("--out-dir", filepath.Join(path, name), inputs...); err != nil {
			return err
		}
	}
	return nil
}

// inputs are the files that the command reads, but for those of a run.
func (o *options) inputs() []string {
	return []string{o.graph, o.Embeddings, o.Labels, o.lists, o.fitX, o.fitY}
}

// clusterGates reads --fail-under and refuses scores that will not be measured.
func (o *options) clusterGates() ([]base.Gate, error) {
	gates, err := o.Gates()
	if err == nil && o.task != "" && len(gates) > 0 {
		err = base.Usagef("--fail-under is for the merged result; add --merge")
	}
	if err == nil && len(gates) > 0 && o.Run == "" && o.Labels == "" {
		err = base.Usagef("--fail-under needs --labels: without true labels nothing is scored")
	}
	if err == nil {
		err = base.KnownGates(gates, run.ClusteringKeys())
	}
	return gates, err
}
