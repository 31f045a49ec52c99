package bound

import (
	"context"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/text"
	"tercet/internal/theory"
)

type dibsOptions struct {
	classes   int
	perClass  int
	noise     float64
	simulate  int
	negatives string
	seed      uint64
	nodes     int64
	changed   func(flag string) bool
}

func newDIBS(s *base.Streams) *cobra.Command {
	var o dibsOptions
	return base.Command{
		Use:   "dibs",
		Short: "Bound the training error under wrong pair labels, by Theorem 1 of DIBS",
		Long: `
Evaluates Theorem 1 of Fonseca & Guidetti. In its setting, the positive pairs of each
class form a closed chain, and each image forms a negative pair with the image of the
same index in another class. Each pair label is wrong with probability P. The theorem,
as printed, states lower <= error - E_sim < E_diff for the training error of the largest
networks.

The duplicates floor is printed too: the expected share of image pairs with
contradictory labels. It is the only unavoidable error of a threshold on a distance.
E_diff counts cycles with a single pair labeled different; the command also prints the
correct expected numbers of such cycles.

--simulate N draws N graphs. The duplicates floor of each and its exact optimum over all
partitions of the images (the minimum cost multicut, the least error of a transitive
relation) are compared with the theorem. A bound is supported or contradicted if the
95 % interval of the mean lies on one side of it, otherwise it is inconclusive. For the
duplicates floor the exact expected value is known and used instead of the interval.
If the search for an optimum reaches its limit, the optimum lies between the error found
and the printed bound.`,
		Examples: []base.Example{
			{Why: "the paper's setting", Line: "tercet bound dibs --classes 10 --noise 0.1 --per-class 300"},
			{Why: "does the theorem hold on drawn graphs?", Line: "tercet bound dibs --classes 5 --noise 0.1 --per-class 20 --simulate 30"},
			{Why: "with negatives that the theorem does not cover", Line: "tercet bound dibs --classes 3 --noise 0.2 --per-class 6 --simulate 30 --negatives random --json"},
		},
		Exits:     []int{base.ExitInterrupted},
		AnyKernel: true,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.IntVar(&o.classes, "classes", 10, "number `K` of classes")
			fs.Float64Var(&o.noise, "noise", 0.1, "`P`, the probability that a pair's label is wrong, 0 to 0.5; q~ is 2P")
			fs.IntVar(&o.perClass, "per-class", 300, "number `N` of images of each class")
			fs.IntVar(&o.simulate, "simulate", 0, "draw `N` graphs and compute their floors")
			fs.StringVar(&o.negatives, "negatives", noise.SameIndex, "of drawn graphs: "+noise.SameIndex+" or "+noise.RandomOne)
			fs.Uint64Var(&o.seed, "seed", 0, "`SEED` of the draws")
			fs.Int64Var(&o.nodes, "nodes", 0, "node limit of branch and bound for each draw, 0 for 100,000 nodes")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, _ []string) error { return runBoundDIBS(ctx, s, o) },
	}.Build()
}

func runBoundDIBS(ctx context.Context, s *base.Streams, o dibsOptions) error {
	b, err := theory.DIBS(o.classes, o.perClass, o.noise)
	if err != nil {
		return boundError(err)
	}
	if !o.changed("simulate") {
		for _, flag := range []string{"negatives", "seed", "nodes"} {
			if o.changed(flag) {
				return base.Usagef("--%s is for simulated graphs; add --simulate N", flag)
			}
		}
	}
	doc := &printed.BoundDIBS{
		Schema: record.BoundSchema, Kind: "dibs", Classes: o.classes, PerClass: o.perClass,
		P: o.noise, Q: 2 * o.noise, Pairs: 2 * o.classes * o.perClass, DIBSBounds: b,
		Cycles: theory.InconsistentCycles(o.classes, o.noise),
	}
	if o.changed("simulate") {
		if doc.Simulation, err = simulate(ctx, s, o); doc.Simulation == nil {
			return boundError(err)
		}
	}
	if e := s.Text(doc, dibsText(doc)); e != nil {
		return e
	}
	return err // of an interruption: the draws before it are printed
}

func simulate(ctx context.Context, s *base.Streams, o dibsOptions) (*printed.Simulation, error) {
	p := s.Progress("draws", int64(max(0, o.simulate)))
	defer p.Done()
	sim, err := theory.Simulate(ctx, theory.SimOptions{
		Classes: o.classes, PerClass: o.perClass, P: o.noise, Negatives: o.negatives,
		Draws: o.simulate, Seed: o.seed, Limits: theory.FloorLimits{Nodes: o.nodes},
		Done: func(printed.Draw) { p.Add(1) },
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return sim, err
}

func dibsText(d *printed.BoundDIBS) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d classes of %d images, %d pairs, P = %v (q~ = %v)\n\n", d.Classes, d.PerClass, d.Pairs, d.P, d.Q)
	t := base.PlainTable("", "error", "pairs")
	row := func(name string, v float64) {
		t.AppendRow(table.Row{name, decimal(v), fmt.Sprintf("%.4g", v*float64(d.Pairs))})
	}
	row("E_sim", d.ESim)
	row("lower", d.Lower)
	row("E_diff", d.EDiff)
	if d.Corollary != nil {
		row("corollary", *d.Corollary)
	}
	row("E_sim + lower", d.AbsoluteLower)
	row("E_sim + E_diff", d.AbsoluteUpper)
	row("duplicates floor", d.FloorDuplicates)
	fmt.Fprintf(&b, "%s\n\n", t.Render())
	t = base.PlainTable("inconsistent cycles per pair", "in E_diff", "in truth")
	for _, c := range d.Cycles {
		name := fmt.Sprintf("%d images of one index", c.Length)
		if c.Indices == 2 {
			name = fmt.Sprintf("%d images of two neighboring indices", c.Length)
		}
		t.AppendRow(table.Row{name, decimal(c.Printed), decimal(c.Exact)})
	}
	fmt.Fprintln(&b, t.Render())
	if s := d.Simulation; s != nil {
		b.WriteString("\n")
		printSimulation(&b, s)
	}
	return b.String()
}

func printSimulation(b *strings.Builder, s *printed.Simulation) {
	n := len(s.Draws)
	fmt.Fprintf(b, "%s of %s negatives, seed %d", text.Count(n, "graph"), s.Negatives, s.Seed)
	if n < s.Wanted {
		fmt.Fprintf(b, "; the target is %d", s.Wanted)
	}
	b.WriteString("\n\n")
	t := base.PlainTable("", "mean", "95 % interval", "sd")
	row := func(name string, m record.Mean, show func(float64) string) {
		cells := table.Row{name, show(m.Value)}
		if m.CI95 != nil {
			cells = append(cells, fmt.Sprintf("[%s, %s]", show(m.CI95[0]), show(m.CI95[1])), show(*m.SD))
		}
		t.AppendRow(cells)
	}
	multicut := "multicut optimum"
	if s.MulticutLower != nil {
		multicut = "multicut, found"
	}
	row("duplicates floor", s.FloorDuplicates, decimal)
	row(multicut, s.Multicut, decimal)
	if s.MulticutLower != nil {
		row("multicut, at least", *s.MulticutLower, decimal)
	}
	row("the true classes", s.Wrong, decimal)
	row("clusters of the multicut", s.Clusters, func(v float64) string { return fmt.Sprintf("%.1f", v) })
	fmt.Fprintln(b, t.Render())
	if s.Proven == n {
		b.WriteString("All optima are proven.\n")
	} else {
		fmt.Fprintf(b, "%d of %d optima are proven; --nodes N sets the limit of the search.\n", s.Proven, n)
	}
	if s.Theorem == nil {
		fmt.Fprintf(b, "The theorem covers same-index negatives. Expected here: a duplicates floor of %s.\n", decimal(s.Expected))
		return
	}
	b.WriteString("\n")
	t = base.PlainTable("claim: of the mean, of the graphs", "duplicates floor", "multicut")
	claim := func(name string, of func(c printed.TheoremChecks) printed.TheoremCheck) {
		show := func(c printed.TheoremCheck) string { return fmt.Sprintf("%s, %d of %d", c.Verdict, c.Draws, n) }
		t.AppendRow(table.Row{name, show(of(s.Theorem.FloorDuplicates)), show(of(s.Theorem.Multicut))})
	}
	claim("E_sim + lower <= error", func(c printed.TheoremChecks) printed.TheoremCheck { return c.Lower })
	claim("error < E_sim + E_diff", func(c printed.TheoremChecks) printed.TheoremCheck { return c.Upper })
	if c := s.Theorem; c.Multicut.Corollary != "" {
		t.AppendRow(table.Row{"error = E_sim + corollary (multicut: to a tenth of it)", c.FloorDuplicates.Corollary, c.Multicut.Corollary})
	}
	fmt.Fprintln(b, t.Render())
}
