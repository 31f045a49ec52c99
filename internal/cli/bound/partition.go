package bound

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/study"
	"tercet/internal/text"
	"tercet/internal/theory"
)

type partitionOptions struct {
	runs  []string
	draws int
	seed  uint64
	nodes int64
	force bool
}

func newPartition(s *base.Streams) *cobra.Command {
	o := partitionOptions{}
	return base.Command{
		Use:   "partition RUN...",
		Short: "Compute the least possible error of a partition for the pair graphs of runs",
		Long: `
Draws random graphs with as many classes, images and wrong pairs as each run has, and
finds the exact optimum over all partitions of the images (the minimum cost multicut, the
least error of a transitive relation). The runs must be trained on dense noisy pairs with
same-index negatives. Each setting is computed once and stored as partition.json in its
runs; tercet report --table pair-floor shows it. An existing result is kept if it has the
same setting, seed and number of draws, and all its optima are proven.`,
		Examples: []base.Example{
			{Why: "for all runs of a study", Line: "tercet bound partition 'runs/floor-*'"},
		},
		Exits:     []int{base.ExitData, base.ExitInterrupted},
		Args:      cobra.MinimumNArgs(1),
		AnyKernel: true,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.IntVar(&o.draws, "draws", 5, "number of graphs to draw for each setting, at most 1,000")
			fs.Uint64Var(&o.seed, "seed", 0, "`SEED` of the draws")
			fs.Int64Var(&o.nodes, "nodes", 0, "node limit of branch and bound for each draw, 0 for 100,000 nodes")
			fs.BoolVar(&o.force, "force", false, "replace existing results, even of another seed or with more draws")
		},
		Run: func(ctx context.Context, args []string) error {
			o.runs = args
			return runBoundPartition(ctx, s, o)
		},
	}.Build()
}

// maxPartitionDraws bounds the draws for each setting.
const maxPartitionDraws = 1000

func runBoundPartition(ctx context.Context, s *base.Streams, o partitionOptions) error {
	if o.draws < 1 || o.draws > maxPartitionDraws {
		return base.Usagef("--draws is %d; give 1 to %d", o.draws, maxPartitionDraws)
	}
	runs, err := report.ReadTableRuns(s, o.runs)
	if err != nil {
		return err
	}
	tasks, others, err := study.PartitionTasks(study.BuiltInTable("pairs"), runs)
	if err != nil {
		return report.RunsError(err)
	}
	if len(tasks) == 0 {
		return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("none of the %d runs has dense noisy pairs with same-index negatives (batch: {sampler: pair-graph, scenario: s2 or full, negatives: same-index}, noise: {kind: pln})", len(runs))}
	}
	doc := &printed.BoundPartition{Schema: record.BoundSchema, Kind: "partition", Others: others}
	for _, t := range tasks {
		if err := refuseOtherPartition(t, o); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		if err := settle(ctx, doc, s, t, o); err != nil {
			return err
		}
	}
	return s.Text(doc, partitionsText(doc))
}

// refuseOtherPartition refuses to replace what has more draws, or is of another seed.
func refuseOtherPartition(t *study.PartitionTask, o partitionOptions) error {
	for _, dir := range t.Dirs {
		if p := t.StoredIn(dir); p != nil && !o.force && (p.Seed != o.seed || len(p.Errors) > o.draws && !theory.PartitionCovers(p, t.PartitionSetting, o.seed, o.draws)) {
			return base.Usagef("%s has %d draws with seed %d: give --seed %d --draws %d, or --force to replace it", filepath.Join(dir, theory.PartitionFile), len(p.Errors), p.Seed, p.Seed, len(p.Errors))
		}
	}
	return nil
}

// settle finds the partition of a task, unless a run of it has it, and stores it in the
// runs that lack it.
func settle(ctx context.Context, doc *printed.BoundPartition, s *base.Streams, t *study.PartitionTask, o partitionOptions) error {
	var lacking []string
	var have *record.Partition
	for _, dir := range t.Dirs {
		if p := t.StoredIn(dir); p != nil && !o.force && theory.PartitionCovers(p, t.PartitionSetting, o.seed, o.draws) {
			have = p
		} else {
			lacking = append(lacking, dir)
		}
	}
	out := printed.StoredPartition{Runs: t.Dirs, Kept: lacking == nil, Partition: have}
	if have == nil {
		var err error
		if out.Partition, err = findPartition(ctx, s, t, o); err != nil {
			return err
		}
	}
	for _, dir := range lacking {
		if err := record.Write(filepath.Join(dir, theory.PartitionFile), out.Partition); err != nil {
			return err
		}
	}
	doc.Partitions = append(doc.Partitions, out)
	return nil
}

func findPartition(ctx context.Context, s *base.Streams, t *study.PartitionTask, o partitionOptions) (*record.Partition, error) {
	p := s.Progress(fmt.Sprintf("draws, %d classes, P = %v", t.Classes, t.P), int64(o.draws))
	defer p.Done()
	found, err := theory.FindPartition(ctx, t.PartitionSetting, theory.SimOptions{
		Draws: o.draws, Seed: o.seed, Limits: theory.FloorLimits{Nodes: o.nodes}, Done: func(printed.Draw) { p.Add(1) },
	})
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found, boundError(err)
}

func partitionsText(d *printed.BoundPartition) string {
	var b strings.Builder
	t := base.PlainTable("classes", "images of each", "P", "best partition's error", "95 % interval", "proven", "runs")
	for _, p := range d.Partitions {
		interval := "-"
		if ci := p.Multicut.CI95; ci != nil {
			interval = fmt.Sprintf("[%s, %s]", decimal(ci[0]), decimal(ci[1]))
		}
		t.AppendRow([]any{p.Classes, p.PerClass, p.P, decimal(p.Multicut.Value), interval, fmt.Sprintf("%d of %d", p.Proven, len(p.Errors)), len(p.Runs)})
	}
	fmt.Fprintln(&b, t.Render())
	if len(d.Others) > 0 {
		fmt.Fprintf(&b, "%s left out: without noise on pairs, sparse, with random negatives, or not finished.\n", text.Count(len(d.Others), "run"))
	}
	return b.String()
}
