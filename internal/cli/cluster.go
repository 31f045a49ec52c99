package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tercet/internal/data"
	"tercet/internal/experiment"
	"tercet/internal/fsx"
	"tercet/internal/report"
)

type clusterOptions struct {
	subject
	outcome
	method  string
	k       int
	nInit   int
	seed    uint64
	out     string
	changed func(flag string) bool
}

func newCluster(s *Streams) *cobra.Command {
	var o clusterOptions
	return command{
		use:   "cluster",
		short: "Cluster embeddings and score the clusters",
		long: `
Clusters the embeddings of a run's test images, or of any npy file, by k-means:
greedy k-means++ starts, ten of them, all points used. Where labels are known the
clusters are scored against them. Writes cluster.json, labels.npy and a map of
the first two principal components into the run's directory, or into --out.`,
		examples: []example{
			{"cluster a run's test images into as many clusters as classes", "tercet cluster --run runs/first", false},
			{"embeddings of another tool, no labels", "tercet cluster --embeddings X.npy -k 10 --out clusters", false},
		},
		exits: []int{ExitData, ExitGate, ExitInterrupted},
		flags: func(cmd *cobra.Command) {
			o.addRun(cmd)
			o.addFiles(cmd)
			o.addOutcome(cmd, "nmi=0.8")
			fs := cmd.Flags()
			fs.StringVar(&o.method, "method", "kmeans", "kmeans")
			fs.IntVarP(&o.k, "clusters", "k", 0, "number of clusters; 0 takes the number of classes (of a run: by default eval.kmeans.k of its config)")
			fs.IntVar(&o.nInit, "n-init", 10, "starts, of which the best counts")
			fs.Uint64Var(&o.seed, "seed", 0, "seed of the starts")
			fs.StringVarP(&o.out, "out", "o", "", "folder to write to; without one, the run's directory (npy files: write nothing)")
			o.changed = fs.Changed
		},
		run: func(ctx context.Context, _ []string) error { return runCluster(ctx, s, o) },
	}.build()
}

func runCluster(ctx context.Context, s *Streams, o clusterOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := atLeast(flagCount{"clusters", o.k, 0}, flagCount{"n-init", o.nInit, 1}); err != nil {
		return err
	}
	if o.method != "kmeans" {
		return usagef("--method is %q; this version has kmeans", o.method)
	}
	gates, err := o.gates()
	if err == nil && len(gates) > 0 && o.run == "" && o.labels == "" {
		err = usagef("--fail-under needs --labels: without true labels nothing is scored")
	}
	if err == nil {
		err = knownGates(gates, experiment.ClusteringKeys())
	}
	if err != nil {
		return err
	}
	view := &stages{s: s}
	defer view.close()
	opts := experiment.ClusterOptions{Method: o.method, K: o.k, NInit: o.nInit, Seed: o.seed}
	var c *experiment.Clustered
	out := o.out
	if o.run == "" {
		if o.k == 0 && o.labels == "" {
			return usagef("without labels the number of clusters must be given: -k 10")
		}
		c, err = experiment.ClusterFiles(ctx, o.embeddings, o.labels, opts, view.say)
	} else {
		r, e := o.open()
		if e != nil {
			return e
		}
		defer r.Close()
		if err := o.noteUnfinished(s, r); err != nil {
			return err
		}
		if out == "" {
			out = r.Dir
		}
		if !o.changed("clusters") {
			opts.K = r.Config.Eval.KMeans.K
		}
		if !o.changed("n-init") {
			opts.NInit = r.Config.Eval.KMeans.NInit
		}
		if !o.changed("seed") {
			opts.Seed = r.Config.Seed
		}
		c, err = r.Cluster(ctx, o.checkpoint, o.set, o.limit, opts, view.say)
	}
	if err != nil {
		return runError(err)
	}
	view.close()
	for _, w := range c.Doc.Warnings {
		s.Note("warning: %s", w)
	}
	if out != "" {
		if err := writeClusters(s, c, out, !o.noPictures); err != nil {
			return err
		}
	}
	if err := s.Result(c.Doc, func(w io.Writer) error { return clusterTable(c.Doc).Write(w, o.format) }); err != nil {
		return err
	}
	return checkGates(gates, c.Doc.Clustering)
}

// writeClusters writes the result and its pictures into dir.
func writeClusters(s *Streams, c *experiment.Clustered, dir string, pictures bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := experiment.WriteJSON(filepath.Join(dir, "cluster.json"), c.Doc); err != nil {
		return err
	}
	err := fsx.Write(filepath.Join(dir, "labels.npy"), 0o644, func(w io.Writer) error { return data.WriteNPYLabels(w, c.Doc.Labels) })
	if err != nil || !pictures {
		return err
	}
	d := c.Doc.Source.Dim
	figures := filepath.Join(dir, "figures")
	picture(s, func() (string, error) {
		return experiment.DrawMap(figures, "pca", filepath.Base(dir)+": first two principal components", c.Vectors, len(c.Vectors)/d, d, c.Truth, c.Doc.Labels, c.Classes)
	})
	picture(s, func() (string, error) {
		if err := os.MkdirAll(figures, 0o755); err != nil {
			return "", err
		}
		base := filepath.Join(figures, "cluster-sizes")
		return base + ".png", report.ClusterSizes(base, "cluster sizes", c.Doc.Sizes)
	})
	return nil
}

func clusterTable(d *experiment.ClusterDoc) *report.Table {
	name := d.Source.Run
	if name == "" {
		name = d.Source.Embeddings
	}
	smallest, largest := d.Source.Items, 0
	for _, n := range d.Sizes {
		smallest, largest = min(smallest, n), max(largest, n)
	}
	t := &report.Table{
		Title:   fmt.Sprintf("%s: %d items, D = %d, %s", name, d.Source.Items, d.Source.Dim, d.Options.Method),
		Columns: []report.Column{{Name: "score"}, {Name: "value", Digits: 4}},
		Rows: [][]report.Cell{
			{report.Text("clusters"), report.Int(d.Clusters)},
			{report.Text("smallest"), report.Int(smallest)},
			{report.Text("largest"), report.Int(largest)},
			{report.Text("inertia"), report.Number(d.Objective)},
		},
	}
	for _, sc := range d.Clustering {
		t.Rows = append(t.Rows, []report.Cell{report.Text(sc.Key), report.Measured(sc.Value)})
	}
	return t
}
