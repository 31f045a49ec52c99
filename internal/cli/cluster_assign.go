package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/clustering"
	"tercet/internal/data"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/run"
	"tercet/internal/text"
)

type assignOptions struct {
	subject
	outcome
	clusters string
	out      string
}

func newClusterAssign(s *Streams) *cobra.Command {
	var o assignOptions
	return command{
		use:   "assign",
		short: "Give new items the clusters of an earlier clustering",
		long: `
Assigns new items to clusters that tercet cluster has found, without the items that
were clustered: clusters.safetensors beside cluster.json is all it takes.

To clusters of a multicut an item goes where cutting it off would cost most, which is
the exact best place; one that no cluster gains by is a cluster of its own, label -1.
To clusters of k-means it goes by the nearest mean. Multicuts on sparse graphs, with
--link distance or with --clip have no such rule, nor have agglomerative and hdbscan.

With --out-dir it writes assign.json and assigned.npy.`,
		examples: []example{
			{"training images to the clusters of a run's test images", "tercet cluster assign --clusters runs/first --run runs/first --split train", false},
			{"embeddings of another tool", "tercet cluster assign --clusters runs/first/cluster.json --embeddings X.npy --labels Y.npy --out-dir new", false},
		},
		exits: []int{ExitData, ExitGate, ExitInterrupted},
		flags: func(cmd *cobra.Command) {
			o.addRun(cmd)
			o.addFiles(cmd)
			fs := cmd.Flags()
			fs.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with 4 if a score of the new items is lower: `SCORE=LIMIT`, such as nmi=0.8 (repeatable)")
			fs.StringVar(&o.format, "format", "text", "table format: "+strings.Join(render.Formats(), ", "))
			fs.StringVar(&o.clusters, "clusters", "", "folder `DIRECTORY` of the clustering, or its cluster.json")
			fs.StringVarP(&o.out, "out-dir", "o", "", "folder to write to; without one, nothing is written")
			oldNames(fs, "out", "out-dir")
		},
		run: func(ctx context.Context, _ []string) error { return runAssign(ctx, s, o) },
	}.build()
}

func runAssign(ctx context.Context, s *Streams, o assignOptions) error {
	if o.clusters == "" {
		return usagef("name the clusters: --clusters DIRECTORY (where tercet cluster has written)")
	}
	if err := o.check(); err != nil {
		return err
	}
	if err := outFolder(o.out); err != nil {
		return err
	}
	saveMemory()
	gates, err := o.gates()
	if err == nil && len(gates) > 0 && o.run == "" && o.labels == "" {
		err = usagef("--fail-under needs --labels: without true labels nothing is scored")
	}
	if err == nil {
		err = knownGates(gates, run.ClusteringKeys())
	}
	if err != nil {
		return err
	}
	view := &stages{s: s}
	defer view.close()
	var d *record.Assign
	if o.run == "" {
		d, err = clustering.AssignFiles(ctx, o.clusters, o.embeddings, o.labelFile())
	} else {
		d, err = o.assignRun(ctx, s, view)
	}
	if err != nil {
		return clusterError(ctx, view, err)
	}
	view.close()
	for _, w := range d.Warnings {
		s.Note("warning: %s", w)
	}
	if o.out != "" {
		if err := writeAssigned(o.out, d); err != nil {
			return err
		}
	}
	if err := s.Result(d, func(w io.Writer) error { return assignTable(d).Write(w, o.format) }); err != nil {
		return err
	}
	return checkGates(gates, d.Clustering)
}

func (o *assignOptions) assignRun(ctx context.Context, s *Streams, view *stages) (*record.Assign, error) {
	r, err := o.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := o.noteUnfinished(s, r); err != nil {
		return nil, err
	}
	return clustering.Assign(ctx, r, o.clusters, o.checkpoint, o.set, o.limit, view.say)
}

func writeAssigned(dir string, d *record.Assign) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := record.Write(filepath.Join(dir, "assign.json"), d); err != nil {
		return err
	}
	return fsx.Write(filepath.Join(dir, "assigned.npy"), 0o644, func(w io.Writer) error { return data.WriteNPYLabels(w, d.Labels) })
}

func assignTable(d *record.Assign) *render.Table {
	name := d.Source.Run
	if name == "" {
		name = d.Source.Embeddings
	}
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
			{render.Text("clusters of their own"), render.Int(d.Own)},
			{render.Text("clusters that have any"), render.Int(used)},
		},
	}
	for _, sc := range d.Clustering {
		t.Rows = append(t.Rows, []render.Cell{render.Text(sc.Key), report.Measured(sc.Value)})
	}
	return t
}
