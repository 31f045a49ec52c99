package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/clustering"
	"tercet/internal/data/npy"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/summary"
	"tercet/internal/text"
)

type assignOptions struct {
	base.Subject
	base.Outcome
	clusters string
	out      string
}

func newAssign(s *base.Streams) *cobra.Command {
	var o assignOptions
	return base.Command{
		Use:   "assign [RUN]",
		Short: "Assign new items to the clusters of an earlier clustering",
		Long: `
Assigns new items to the clusters found by tercet cluster. It needs only
clusters.safetensors in the folder of cluster.json, not the clustered items.

After multicut, an item joins the cluster from which cutting it would cost most, which is
the exact optimum. An item that no cluster attracts gets label -1. After k-means, it joins
the nearest mean. Assignment is not defined for multicuts on sparse graphs, with --link
distance or with --clip, nor for agglomerative and hdbscan.

With --out-dir it writes assign.json and assigned.npy.`,
		Examples: []base.Example{
			{Why: "training images to the clusters of a run's test images", Line: "tercet cluster assign --clusters runs/first --run runs/first --split train"},
			{Why: "embeddings from another tool", Line: "tercet cluster assign --clusters runs/first/cluster.json --embeddings X.npy --labels Y.npy --out-dir new"},
		},
		Exits: []int{base.ExitData, base.ExitGate, base.ExitInterrupted},
		Args:  base.OneRun,
		Flags: func(cmd *cobra.Command) {
			o.AddRun(cmd)
			o.AddFiles(cmd)
			fs := cmd.Flags()
			fs.StringArrayVar(&o.FailUnder, "fail-under", nil, "exit with code 4 if a score of the new items is lower: `SCORE=LIMIT`, such as nmi=0.8 (repeatable)")
			o.AddFormat(cmd)
			fs.StringVar(&o.clusters, "clusters", "", "`DIRECTORY` of the clustering, or its cluster.json")
			fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; by default nothing is written")
			base.OldNames(fs, "out", "out-dir")
		},
		Run: func(ctx context.Context, _ []string) error { return runAssign(ctx, s, o) },
	}.Build()
}

func runAssign(ctx context.Context, s *base.Streams, o assignOptions) error {
	if o.clusters == "" {
		return base.Usagef("name the clusters: --clusters DIRECTORY (where tercet cluster has written)")
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := outFolder(o.out, []string{assignedFile}, o.Embeddings, o.Labels); err != nil {
		return err
	}
	defer base.SaveMemory(o.Embeddings, o.Labels)()
	gates, err := o.Gates()
	if err == nil && len(gates) > 0 && o.Run == "" && o.Labels == "" {
		err = base.Usagef("--fail-under needs --labels: without true labels nothing is scored")
	}
	if err == nil {
		err = base.KnownGates(gates, run.ClusteringKeys())
	}
	if err != nil {
		return err
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	var d *printed.Assign
	if o.Run == "" {
		d, err = clustering.AssignFiles(ctx, o.clusters, o.Embeddings, o.LabelFile())
		err = base.LabelsError(err)
	} else {
		d, err = o.assignRun(ctx, s, view)
	}
	if err != nil {
		return clusterError(ctx, view, err)
	}
	view.Close()
	s.Warn(d.Warnings...)
	if o.out != "" {
		if err := writeAssigned(o.out, d); err != nil {
			return err
		}
	}
	if err := s.Result(d, func(w io.Writer) error { return assignTable(d).Write(w, o.Format) }); err != nil {
		return err
	}
	return base.CheckGates(gates, d.Clustering)
}

func (o *assignOptions) assignRun(ctx context.Context, s *base.Streams, view *base.Stages) (*printed.Assign, error) {
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return clustering.Assign(ctx, r, o.clusters, o.Checkpoint, o.Set, o.Limit, view.Say)
}

// assignedFile has the clusters of the new items, beside assign.json.
const assignedFile = "assigned.npy"

func writeAssigned(dir string, d *printed.Assign) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := record.Write(filepath.Join(dir, "assign.json"), d); err != nil {
		return err
	}
	return fsx.Write(filepath.Join(dir, assignedFile), 0o644, func(w io.Writer) error { return npy.WriteLabels(w, d.Labels) })
}

func assignTable(d *printed.Assign) *render.Table {
	name := cmp.Or(d.Source.Run, d.Source.Embeddings)
	used := 0
	for _, n := range d.Sizes {
		if n > 0 {
			used++
		}
	}
	t := &render.Table{
		Title:   fmt.Sprintf("%s: %s to the %s of %s", name, text.Plural(d.Source.Items, "item", "items"), text.Plural(d.Clusters.Clusters, "cluster", "clusters"), d.Clusters.File),
		Columns: []render.Column{{Name: "score"}, {Name: "value", Digits: 4}},
		Rows: [][]render.Cell{
			{render.Text("assigned"), render.Int(d.Assigned)},
			{render.Text("single-item clusters"), render.Int(d.Own)},
			{render.Text("clusters that have any"), render.Int(used)},
		},
	}
	for _, sc := range d.Clustering {
		t.Rows = append(t.Rows, []render.Cell{render.Text(sc.Key), summary.Measured(sc.Value)})
	}
	return t
}
