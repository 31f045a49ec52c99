package cluster

import (
	"cmp"
	"fmt"
	"math"

	"tercet/internal/cli/base"
	"tercet/internal/cluster/solve"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/summary"
	"tercet/internal/text"
)

// ClusterTable shows a clustering: how many, how large, how good, beside what other
// clusterings cost.
func ClusterTable(d *record.Cluster) *render.Table {
	name := cmp.Or(d.Source.Run, d.Source.Embeddings+d.Source.Graph)
	title := fmt.Sprintf("%s: %s, D = %d, %s", name, text.Plural(d.Source.Items, "item", "items"), d.Source.Dim, d.Options.Method)
	if d.Source.Graph != "" {
		title = fmt.Sprintf("%s: %s, %s, %s", name, text.Plural(d.Source.Items, "node", "nodes"), text.Plural(int(d.Multicut.Graph.Edges), "edge", "edges"), d.Options.Method)
	}
	t := &render.Table{Title: title, Columns: []render.Column{{Name: "score"}, {Name: "value", Digits: 4}}}
	columns := []column{{d.Clusters, d.Objective, d.Clustering}}
	if m := d.Multicut; m != nil && m.Comparison != nil {
		t.Columns[1].Name = "multicut"
		for _, other := range []struct {
			name string
			c    *record.Compared
		}{{"ground truth", m.Comparison.GroundTruth}, {"k-means", m.Comparison.KMeans}} {
			if other.c != nil {
				t.Columns = append(t.Columns, render.Column{Name: other.name, Digits: 4})
				columns = append(columns, column{other.c.Clusters, &other.c.Objective, other.c.Clustering})
			}
		}
	}
	row := func(what string, cells ...render.Cell) {
		line := append([]render.Cell{render.Text(what)}, cells...)
		for len(line) < len(t.Columns) {
			line = append(line, render.Missing())
		}
		t.Rows = append(t.Rows, line)
	}
	number := func(what string, v *float64) {
		if v != nil {
			row(what, render.Number(*v))
		}
	}
	row("clusters", each(columns, func(c column) render.Cell { return render.Int(c.clusters) })...)
	if n := len(d.Sizes); n > 0 {
		row("smallest", render.Int(d.Sizes[n-1]))
		row("largest", render.Int(d.Sizes[0]))
	}
	if d.Options.Method == solve.HDBSCAN {
		row("noise", render.Int(d.Noise))
	}
	number("threshold", d.Threshold)
	if d.Objective != nil {
		name := "objective"
		if d.Options.Method == solve.KMeans {
			name = "inertia"
		}
		row(name, each(columns, func(c column) render.Cell { return render.Number(*c.objective) })...)
	}
	if len(columns) > 1 && *d.Objective != 0 {
		row("excess over multicut (%)", each(columns, func(c column) render.Cell {
			return render.Number(100 * (*c.objective - *d.Objective) / math.Abs(*d.Objective))
		})...)
	}
	number("lower bound", d.LowerBound)
	if d.Gap != nil {
		row("gap (%)", render.Number(100**d.Gap))
	}
	if d.Multicut != nil {
		number("objective on all pairs", d.Multicut.Complete)
	}
	for _, sc := range d.Clustering {
		row(sc.Key, each(columns, func(c column) render.Cell {
			v, ok := c.scores.Get(sc.Key)
			if !ok {
				return render.Missing()
			}
			return summary.Measured(v)
		})...)
	}
	t.Notes = notes(d)
	base.LabelSource(t, d.Source)
	return t
}

// column is one clustering of the table.
type column struct {
	clusters  int
	objective *float64
	scores    record.Scores
}

func each(list []column, f func(column) render.Cell) []render.Cell {
	return lists.Map(list, f)
}

// notes say where the numbers come from.
func notes(d *record.Cluster) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s := d.ThresholdFrom; s != nil {
		switch {
		case s.Fit != nil:
			add("threshold: fitted to %d pairs of %s (%s), classifies %.1f %% of them correctly; AUC %.3f", s.Fit.Pairs, s.Fit.Set, text.Plural(s.Fit.Items, "item", "items"), 100*s.Fit.Accuracy, s.Fit.AUC)
		case s.Alpha > 0:
			add("threshold: sqrt((alpha + beta)/2) of the loss's margins, alpha %g, beta %g", s.Alpha, s.Beta)
		case s.From == solve.FromMargins:
			add("threshold: that of the loss")
		}
	}
	if m := d.Multicut; m != nil {
		proven := ""
		if m.Solver.Proven {
			proven = ", proven to be the best"
		}
		add("solver %s%s, %.2f s, on %s", m.Solver.Name, proven, m.Solver.Seconds, graphWords(m.Graph))
		if m.Bound != nil {
			more := ""
			switch {
			case m.Bound.Ended:
				more = ", ended early; --bound cycle takes as long as it needs"
			case d.Options.Multicut.Bound == "auto" && m.Graph.Kind != "complete" && m.Bound.Method == "trivial":
				more = ", as others are not quick for so many edges; --bound cycle gives a better one"
			}
			add("lower bound: %s, %.2f s%s", m.Bound.Method, m.Bound.Seconds, more)
		} else if d.Options.Multicut.Bound == "none" {
			add("no lower bound: none was requested")
		} else if d.Options.Multicut.Bound == "auto" && m.Graph.Nodes > solve.AutoTrivial {
			add("no lower bound: none is quick for so many items; --bound trivial or triangle gives one")
		}
		if c := m.Comparison; c != nil && c.Verdict != "" {
			out = append(out, c.Verdict)
		}
	}
	if k := d.KMeans; k != nil && k.Choice != nil {
		for _, c := range k.Choice {
			if c.K == k.K {
				add("k = %d of %d tried has the best silhouette, %.4f", k.K, len(k.Choice), c.Silhouette)
			}
		}
	}
	return out
}

func graphWords(g record.GraphRecord) string {
	if g.Kind == "complete" {
		return "all " + text.Plural(int(g.Edges), "pair", "pairs")
	}
	return "a graph of " + text.Plural(int(g.Edges), "edge", "edges")
}
