package cluster

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/multicut"
	"tercet/internal/cluster/solve"
	"tercet/internal/clustering"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/scheduler"
)

// clusterRun clusters a run's images; out becomes its directory where none is given.
func (o *options) clusterRun(ctx context.Context, s *base.Streams, view *base.Stages) (*solve.Result, error) {
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.out == "" {
		o.out = r.ClusterFolder(o.Set, o.Checkpoint)
	}
	if o.method == "auto" {
		tau, err := r.Threshold(o.Checkpoint)
		if err != nil {
			return nil, err
		}
		if o.method = solve.KMeans; tau != nil {
			o.method = solve.Multicut
		}
	}
	opts, err := o.settings()
	if err != nil {
		return nil, err
	}
	if k := r.Config.Eval.KMeans.K; !o.flags.Changed("clusters") && (o.method == solve.KMeans || o.method == solve.Agglomerative && !opts.Agglomerative.Cut) {
		opts.K = k
	}
	if !o.flags.Changed("n-init") && opts.NInit > 0 && opts.KMeans.MiniBatch == 0 {
		opts.NInit = r.Config.Eval.KMeans.NInit
	}
	if !o.flags.Changed("seed") {
		opts.Seed = r.Config.Seed
	}
	if err := clustering.CheckClusters(r, opts.K, o.Set, o.Limit); err != nil {
		return nil, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	path, err := o.place()
	if err != nil {
		return nil, err
	}
	share, err := o.share(opts)
	if err != nil {
		return nil, err
	}
	if !o.force && share.Task.Of == 0 {
		now := record.Cluster{Options: opts, Source: record.Source{Items: o.Limit}}
		if err := base.KeptError(run.Keep(r, path, now, o.Set, o.Checkpoint), "--out-dir FOLDER"); err != nil {
			return nil, err
		}
	}
	return clustering.Cluster(ctx, r, o.Checkpoint, o.Set, o.Limit, opts, share, told(view))
}

// share is that of --task, or of --merge.
func (o *options) share(c record.ClusterOptions) (solve.Share, error) {
	s := solve.Share{Program: base.Program(), Path: func(t scheduler.Task) string { return run.PartPath(filepath.Join(o.out, "cluster.json"), t) }}
	var err error
	switch {
	case o.task == "" && !o.merge:
		return s, nil
	case o.out == "":
		return s, base.Usagef("--task and --merge keep starts in files next to the result: name its folder by --out-dir, the same for all tasks")
	case o.merge:
		s.Merge, err = run.Parts(filepath.Join(o.out, "cluster.json"))
	default:
		s.Task, err = scheduler.ParseTask(o.task, os.Getenv)
	}
	if err == nil {
		err = s.Check(c)
	}
	return s, err
}

// clusterFile clusters the embeddings or the graph of a file.
func (o *options) clusterFile(ctx context.Context, view *base.Stages) (*solve.Result, error) {
	if o.method == "auto" {
		o.method = solve.KMeans
	}
	opts, err := o.settings()
	if err != nil {
		return nil, err
	}
	if o.out != "" {
		if _, err := o.place(); err != nil {
			return nil, err
		}
	}
	if o.graph != "" {
		c, err := clustering.Graph(ctx, o.graph, o.LabelFile(), opts, o.keeper(opts), told(view))
		return c, base.LabelsError(err)
	}
	if err := o.knowable(opts); err != nil {
		return nil, err
	}
	share, err := o.share(opts)
	if err != nil {
		return nil, err
	}
	keeper := o.keeper(opts)
	if share.Task.Of > 0 {
		keeper = nil
	}
	c, err := clustering.Files(ctx, o.Embeddings, o.LabelFile(), opts, share, keeper, told(view))
	return c, base.LabelsError(err)
}

// place is where the document goes. It refuses a folder with files of others.
func (o *options) place() (string, error) {
	path := filepath.Join(o.out, "cluster.json")
	if err := base.Writable(path); err != nil || o.force {
		return path, err
	}
	return path, base.KeptError(solve.Vacant(o.out), "--out-dir FOLDER")
}

// keeper refuses to replace what --out-dir has by less of the same files, or by the result of
// others; nil where there is nothing to refuse.
func (o *options) keeper(opts record.ClusterOptions) run.Keeper {
	if o.out == "" || o.force {
		return nil
	}
	path := filepath.Join(o.out, "cluster.json")
	return func(now record.Source) error {
		now.Items = 0 // all of them
		return base.KeptError(record.KeepFiles(path, record.Cluster{Options: opts, Source: now}), "--out-dir FOLDER")
	}
}

// write writes the result and its pictures.
func (o *options) write(s *base.Streams, c *solve.Result) error {
	figures := filepath.Join(o.out, "figures")
	if err := base.Undraw(figures, "tsne", "pca", "clusters", "clusters-gallery", "contingency", "cluster-sizes", "items", "confusion"); err != nil {
		return err
	}
	if err := c.Write(o.out); err != nil {
		return err
	}
	if o.NoPictures {
		return nil
	}
	for _, p := range clustering.Pictures(c, figures) {
		if err := base.Picture(s, p.Draw); err != nil {
			return err
		}
	}
	return nil
}

// writeGraph writes the sparse graph where it is asked for.
func (o *options) writeGraph(s *base.Streams, g *multicut.Graph) error {
	if o.saveGraph == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(o.saveGraph), 0o755); err != nil {
		return err
	}
	if err := fsx.Write(o.saveGraph, 0o644, func(w io.Writer) error { return multicut.WriteGraph(w, g) }); err != nil {
		return err
	}
	s.Note("wrote %s", o.saveGraph)
	return nil
}
