package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/tracker"
)

// charted are the numbers of logs that pages draw, in their order. Of a hundred runs only the
// first ones are drawn.
var charted = []struct{ tag, title string }{
	{"train/loss", "loss"}, {"validation/recall@1", "recall@1, validation images"}, {"test/recall@1", "recall@1, test images"},
	{"train/active", "active tuples, fraction"}, {"validation/map@r", "MAP@R, validation images"}, {"test/map@r", "MAP@R, test images"},
	{"train/d_positive", "distance to the positive"}, {"train/d_negative", "distance to the negative"}, {"train/cosine", "mean cosine of two embeddings"},
	{"train/lr", "learning rate"}, {"crafted/hardness", "hardness achieved"},
}

// Bounds of what a page draws, so that it can be opened: points of all lines, of one line,
// and lines from which only the first charts are drawn.
const (
	allPoints  = 40_000
	linePoints = 400
	manyRuns   = 20
	fewCharts  = 4
)

// addCurves adds the runs' logs, drawn together.
func addCurves(p *render.Page, runs []*rundir.Run) {
	tags := charted
	if len(runs) > manyRuns {
		tags = charted[:fewCharts]
	}
	panels := make([]render.Panel, len(tags))
	var unread []string
	for i, name := range tracker.Names(runs) {
		lines := make([]render.Series, len(tags))
		err := tracker.EachPoint(runs[i], func(point tracker.Point) {
			for j, c := range tags {
				if c.tag == point.Tag {
					lines[j].Add(float64(point.Step), point.Value)
				}
			}
		})
		if err != nil {
			unread = append(unread, err.Error())
		}
		for j, l := range lines {
			if len(l.X) > 1 {
				l.Name = name
				panels[j].YLabel, panels[j].Lines = tags[j].title, append(panels[j].Lines, l)
			}
		}
	}
	panels = slices.DeleteFunc(panels, func(p render.Panel) bool { return p.Lines == nil })
	count := 0
	for _, panel := range panels {
		count += len(panel.Lines)
	}
	for _, panel := range panels {
		for j := range panel.Lines {
			panel.Lines[j] = thinned(panel.Lines[j], min(linePoints, max(20, allPoints/count)))
		}
	}
	if count > 0 {
		p.Curves("Training", "step", panels)
	}
	for _, why := range unread {
		p.Paragraph("Not drawn: " + why)
	}
}

// thinned is a line with at most n points, evenly spread, the first and the last among them.
func thinned(l render.Series, n int) render.Series {
	if len(l.X) <= n {
		return l
	}
	out := render.Series{Name: l.Name}
	for i := range n {
		at := i * (len(l.X) - 1) / (n - 1)
		out.X, out.Y = append(out.X, l.X[at]), append(out.Y, l.Y[at])
	}
	return out
}

// mostKeys bounds the settings that a page compares.
const mostKeys = 20

// differences is the table of the config keys in which the runs differ, a row for each run;
// nil where they differ in none but their names.
func differences(runs []*rundir.Run) *render.Table {
	var keys []string
	values := map[string]map[string]bool{}
	for _, r := range runs {
		for _, l := range r.Labels {
			if values[l.Key] == nil {
				values[l.Key] = map[string]bool{}
				keys = append(keys, l.Key)
			}
			values[l.Key][l.Value] = true
		}
	}
	keys = slices.DeleteFunc(keys, func(k string) bool {
		had := 0
		for _, r := range runs {
			if _, ok := r.Label(k); ok {
				had++
			}
		}
		return k == "name" || len(values[k]) == 1 && had == len(runs)
	})
	if len(keys) == 0 {
		return nil
	}
	t := &render.Table{Columns: []render.Column{{Name: "run"}}}
	if n := len(keys); n > mostKeys {
		t.Notes = append(t.Notes, fmt.Sprintf("%d keys more differ: %s", n-mostKeys, strings.Join(keys[mostKeys:], ", ")))
		keys = keys[:mostKeys]
	}
	t.Columns = append(t.Columns, render.Columns(keys...)...)
	for i, name := range tracker.Names(runs) {
		row := []render.Cell{render.Text(name)}
		for _, k := range keys {
			v, _ := runs[i].Label(k)
			row = append(row, render.Text(cmp.Or(v, "-")))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
