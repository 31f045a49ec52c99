package summary

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/render"
	"tercet/internal/stat"
)

// Run is one run's labels (such as loss: triplet, seed: 0) and measured values.
type Run struct {
	Name   string
	Labels map[string]string
	Values map[string]float64
}

// Aggregate makes one row per group of runs that agree in the labels groupBy:
// their number, and of each metric the mean over runs with the 95 % interval of
// Student's t, mean +- t(0.975, n-1) s / sqrt(n), s the sample deviation. The
// interval speaks about new runs of the same kind (other seeds), not about new
// data. A single run has no interval and says n=1. A run without a metric does
// not count for it, and a note says so; a NaN makes the mean NaN. Groups come
// in the order of their first run.
func Aggregate(runs []Run, groupBy, metrics []string) (*render.Table, error) {
	if err := known(runs, groupBy, "label", func(r Run) []string { return keys(r.Labels) }); err != nil {
		return nil, err
	}
	if err := known(runs, metrics, "metric", func(r Run) []string { return keys(r.Values) }); err != nil {
		return nil, err
	}
	t := &render.Table{Columns: render.Columns(slices.Concat(groupBy, []string{"n"}, metrics)...)}
	groups := map[string][]Run{}
	var order []string
	for _, r := range runs {
		var id strings.Builder
		for _, g := range groupBy {
			v, ok := r.Labels[g]
			fmt.Fprintf(&id, "%t %d %s;", ok, len(v), v)
		}
		if groups[id.String()] == nil {
			order = append(order, id.String())
		}
		groups[id.String()] = append(groups[id.String()], r)
	}
	for _, id := range order {
		members := groups[id]
		var row []render.Cell
		for _, g := range groupBy {
			if v, ok := members[0].Labels[g]; ok {
				row = append(row, render.Text(v))
			} else {
				row = append(row, render.Missing())
			}
		}
		row = append(row, render.Int(len(members)))
		for _, m := range metrics {
			var values []float64
			for _, r := range members {
				if v, ok := r.Values[m]; ok {
					values = append(values, v)
				} else {
					t.Notes = append(t.Notes, fmt.Sprintf("%s has no %s and does not count for it.", r.Name, m))
				}
			}
			row = append(row, summary(values))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func summary(values []float64) render.Cell {
	switch len(values) {
	case 0:
		return render.Missing()
	case 1:
		return render.Single(values[0])
	}
	mean, low, high := stat.MeanInterval(values)
	return render.Interval(mean, low, high)
}

// known checks that each wanted key occurs in some run.
func known(runs []Run, want []string, what string, have func(Run) []string) error {
	all := lists.Flat(runs, have)
	sort.Strings(all)
	all = slices.Compact(all)
	for _, w := range want {
		if len(runs) > 0 && !slices.Contains(all, w) {
			return fmt.Errorf("none of the %d runs has the %s %q; they have %s", len(runs), what, w, strings.Join(all, ", "))
		}
	}
	return nil
}

func keys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}
