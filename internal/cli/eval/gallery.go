package eval

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/data/npy"
	"tercet/internal/embed/store"
	"tercet/internal/evaluate"
	"tercet/internal/evaluate/gallery"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/scheduler"
	"tercet/internal/vectors"
)

// galleryOptions are those of files that need not fit into memory.
type galleryOptions struct {
	queries, queryLabels string
	lists                string
	task                 string
	merge                bool
	blocks               bool
}

func (g *galleryOptions) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&g.queries, "queries", "", "`FILE` of query embeddings to search for in --embeddings, or both are folders that tercet embed wrote; by default each item is a query among all others")
	fs.StringVar(&g.queryLabels, "query-labels", "", "npy or csv `FILE` of the queries' labels; --label-column applies to both csv files")
	fs.BoolVar(&g.blocks, "blocks", false, "read the vectors from their files block by block, the default above 1 GiB without k-means and pairs; the scores are the same")
	fs.StringVar(&g.lists, "neighbors", "", "compare neighbors found by another program with exact search: `FILE` (npy, ibin, ivecs) lists rows of --embeddings for each query; labels are optional")
	fs.StringVar(&g.task, "task", "", "evaluate only share `i/n` of the gallery (i from 1), or auto/n with the scheduler's index; combine with --merge")
	fs.BoolVar(&g.merge, "merge", false, "combine the counts of all tasks with the same --out")
	base.Group(fs, "Large galleries (with --embeddings)")
	base.Exclusive(cmd, "run", galleryFlags...)
	base.Exclusive(cmd, "neighbors", "task", "merge")
	cmd.MarkFlagsMutuallyExclusive("task", "merge")
}

// galleryFlags ask for an evaluation that leaves vectors in their files.
var galleryFlags = []string{"queries", "query-labels", "blocks", "neighbors", "task", "merge"}

// leastBlocks is the size of vectors from which they stay on the disk where they can.
const leastBlocks = 1 << 30

// inBlocks reports whether the files are read in blocks: as the flags ask, or where they
// are large and what is measured allows it.
func (o *options) inBlocks() bool {
	if o.Run != "" || o.folders() {
		return false
	}
	if base.Given(o.changed, galleryFlags...) != "" {
		return true
	}
	if !o.noKMeans || o.scoresPairs() || store.Is(o.Embeddings) {
		return false
	}
	f, err := vectors.Open(o.Embeddings)
	if err != nil {
		return false // the reader of the whole says why, or reads it
	}
	defer f.Close()
	return f.Bytes() > leastBlocks
}

// folders reports whether the images of a folder of embeddings are searched for in another:
// both are read into memory.
func (o *options) folders() bool {
	return base.Given(o.changed, galleryFlags...) == "--queries" && store.Is(o.Embeddings) && store.Is(o.queries)
}

func (o *options) scoresPairs() bool { return o.pairs || o.changed("threshold") || len(o.fmr) > 0 }

// ofRankings are the flags about what lists of neighbors have not.
var ofRankings = []string{"clusters", "n-init", "pairs", "threshold", "fmr", "per-query", "per-class", "class-scores", "intervals"}

// checkBlocks refuses what needs all embeddings in memory.
func (o *options) checkBlocks() error {
	given := base.Given(o.changed, galleryFlags...)
	switch {
	case store.Is(o.Embeddings) && o.queries != "" && !store.Is(o.queries):
		return base.Usagef("--embeddings %s is a folder, and --queries %s is none: give two folders that tercet embed wrote, or two files", o.Embeddings, o.queries)
	case store.Is(o.queries) && !store.Is(o.Embeddings):
		return base.Usagef("--queries %s is a folder, and --embeddings %s is none: give two folders that tercet embed wrote, or two files", o.queries, o.Embeddings)
	case store.Is(o.Embeddings):
		return base.Usagef("%s: read files of vectors, and %s is a folder: tercet export embeddings writes a file of it", given, o.Embeddings)
	case o.lists != "":
		return o.checkLists()
	case o.Labels == "":
		return base.Usagef("--embeddings needs --labels: scores compare with true labels")
	case (o.queries == "") != (o.queryLabels == ""):
		return base.Usagef("--queries and --query-labels must be given together")
	case !o.noKMeans:
		return base.Usagef("%s: k-means takes all embeddings at once: add --no-kmeans", given)
	case o.scoresPairs():
		return base.Usagef("%s: pairs are scored with all embeddings in memory: leave out %s", given, base.Given(o.changed, "pairs", "threshold", "fmr"))
	case (o.task != "" || o.merge) && o.out == "":
		return base.Usagef("--task and --merge keep counts in files named as the result: name it by --out, the same for all tasks")
	}
	return nil
}

// checkLists refuses what goes with whole rankings alone, and labels of one side.
func (o *options) checkLists() error {
	switch given := base.Given(o.changed, ofRankings...); {
	case given != "":
		return base.Usagef("--neighbors evaluates lists, not whole rankings: leave out %s", given)
	case o.queryLabels != "" && o.queries == "":
		return base.Usagef("--query-labels are those of --queries, which is not given")
	case o.queries != "" && (o.Labels == "") != (o.queryLabels == ""):
		return base.Usagef("--labels and --query-labels must be given together: give both, or neither for the recall against exact search alone")
	}
	return nil
}

func (o *options) stay(keep bool) gallery.Options {
	set := o.fileSettings()
	set.KMeans = set.KMeans && o.lists == ""
	out := gallery.Options{
		Embeddings: o.Embeddings, Labels: o.LabelFile(), Queries: o.queries, QueryLabels: npy.LabelFile{Path: o.queryLabels, Column: o.Column},
		Lists: o.lists, Eval: set, Out: o.out, Program: base.Program(),
	}
	if keep {
		out.Keep = o.keeper(set)
	}
	return out
}

// stored evaluates files in blocks. The result is written before unfinished work is removed.
func stored(ctx context.Context, s *base.Streams, o options, say progress.Say) (*evaluate.Evaluation, error) {
	if err := o.checkBlocks(); err != nil {
		return nil, err
	}
	var e *evaluate.Evaluation
	var err error
	done := func() error { return nil }
	switch {
	case o.lists != "":
		e, err = gallery.Lists(ctx, o.stay(true), o.changed("k"), say)
	case o.merge:
		e, err = gallery.Merge(ctx, o.stay(true), say)
	default:
		e, done, err = gallery.Evaluate(ctx, o.stay(true), say)
	}
	if err != nil {
		return nil, base.RunError(base.LabelsError(err))
	}
	if o.out != "" {
		if err := writeEval(s, o.out, e.Doc); err != nil {
			return nil, err
		}
	}
	return e, done()
}

// runTask counts a share of the gallery.
func runTask(ctx context.Context, s *base.Streams, o options) error {
	if err := o.checkBlocks(); err != nil {
		return err
	}
	t, err := scheduler.ParseTask(o.task, os.Getenv)
	if err != nil {
		return base.RunError(err)
	}
	if given := base.Given(o.changed, "fail-under", "class-scores"); given != "" {
		return base.Usagef("%s: for the merged result; add --merge", given)
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	d, err := gallery.Task(ctx, o.stay(false), t, view.Say)
	if err != nil {
		return base.RunError(base.LabelsError(err))
	}
	view.Close()
	return s.Line(d, "%s: %d of %d gallery items counted; when all %d tasks have ended, replace --task by --merge", d.Counts, d.Rows, d.Source.Items, d.Tasks)
}

// fileSettings are the options of embeddings of other tools.
func (o *options) fileSettings() record.EvalOptions {
	return o.settings(record.EvalOptions{Ks: o.ks, Bootstrap: o.bootstrap, K: o.kmeans, NInit: o.nInit, Seed: o.seed})
}
