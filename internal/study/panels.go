package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/render"
	"tercet/internal/study/observe"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// words are the values of fields in which rows differ; of the first field always.
func (p *Plot) words(row *Row, fields []string, rows []*Row, separator string) string {
	var parts []string
	for i, name := range fields {
		v := row.Fields[name]
		varies := slices.ContainsFunc(rows, func(r *Row) bool { return r.Fields[name] != v })
		if v == "" || i > 0 && !varies {
			continue
		}
		for _, c := range p.Titles {
			if c.Where.Fits(func(source string) string { return map[string]string{name: v}[source] }) {
				v = c.As
				break
			}
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, separator)
}

func (p *Plot) begins(row *Row) bool { return len(p.Begins) > 0 && p.Begins.Fits(row.text) }

// colors gives each series a place in the palette.
func (p *Plot) colors(rows []*Row) func(*Row) (string, int) {
	var names []string
	for _, r := range rows {
		names = lists.AppendNew(names, p.words(r, p.Series, rows, ", "))
	}
	if len(p.Begins) > 0 || p.YLabel == "" { // rows are sorted by what is drawn along x first
		slices.Sort(names)
	}
	return func(r *Row) (string, int) {
		name := p.words(r, p.Series, rows, ", ")
		return name, slices.Index(names, name)
	}
}

// panels are those of one picture.
func (p *Plot) panels(rows []*Row, colors func(*Row) (string, int)) []render.LinePanel {
	own := slices.DeleteFunc(slices.Clone(rows), p.begins)
	if len(own) == 0 {
		own = rows
	}
	groups, order := observe.GroupBy(own, func(row *Row) string { return p.words(row, p.Panel, own, ", ") })
	with := func(title string) []*Row {
		members := groups[title]
		if len(p.Begins) > 0 && len(own) < len(rows) {
			members = slices.DeleteFunc(slices.Clone(rows), func(r *Row) bool { return !p.begins(r) && !slices.Contains(groups[title], r) })
		}
		return members
	}
	var out []render.LinePanel
	if p.YLabel != "" {
		for _, title := range order {
			panel := render.LinePanel{Title: title, XLabel: p.XLabel, YLabel: p.YLabel, LogX: p.LogX, Percent: p.Y[0].Percent, LogY: p.Y[0].Log}
			for _, l := range p.Y {
				panel.Traces = append(panel.Traces, p.traces(with(title), l, colors)...)
			}
			out = append(out, panel)
		}
		return out
	}
	lines := slices.DeleteFunc(slices.Clone(p.Y), func(l Line) bool { // what no row has needs no panels
		return !slices.ContainsFunc(rows, func(r *Row) bool { _, ok := r.Scores[l.Score]; return ok })
	})
	for i, l := range lines {
		for _, title := range order {
			panel := render.LinePanel{XLabel: p.XLabel, YLabel: strings.ReplaceAll(l.Score, "_", " "), LogX: p.LogX, Percent: l.Percent, LogY: l.Log}
			if i == 0 {
				panel.Title = title
			}
			panel.Traces = apart(p.traces(with(title), l, colors))
			out = append(out, panel)
		}
	}
	return out
}

// across is the number of panels in a row of a picture with rows of their own for scores.
func (p *Plot) across(rows []*Row) int {
	own := slices.DeleteFunc(slices.Clone(rows), p.begins)
	if len(own) == 0 {
		own = rows
	}
	_, order := observe.GroupBy(own, func(row *Row) string { return p.words(row, p.Panel, own, ", ") })
	return len(order)
}

// drawDifferences writes a picture of dots for each value of Picture.
func (p *Plot) drawDifferences(d *Document, base string) ([]string, error) {
	rows := slices.DeleteFunc(slices.Clone(d.Rows), func(r *Row) bool { _, ok := r.Differences[p.Y[0].Score]; return !ok })
	groups, order := observe.GroupBy(rows, func(row *Row) string { return p.words(row, p.Picture, rows, ", ") })
	var out []string
	for _, title := range order {
		c := p.dots(groups[title])
		c.Title = p.Title + ": " + title
		file := pictureFile(base, title)
		if err := c.Write(file); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// dots are the differences of rows, the largest of the first score first.
func (p *Plot) dots(rows []*Row) *render.DotChart {
	slices.SortStableFunc(rows, func(a, b *Row) int {
		return cmp.Compare(b.Differences[p.Y[0].Score].Value, a.Differences[p.Y[0].Score].Value)
	})
	low, high := rows[0].Differences[p.Y[0].Score].N, 0
	c := &render.DotChart{}
	for _, r := range rows {
		n := r.Differences[p.Y[0].Score].N
		low, high = min(low, n), max(high, n)
		c.Names = append(c.Names, p.words(r, append([]string{p.X}, p.Series...), rows, ", "))
	}
	for _, l := range p.Y {
		panel := render.DotPanel{Title: cmp.Or(l.Label, l.Score), XLabel: p.XLabel, Percent: l.Percent}
		for _, r := range rows {
			bar := render.Bar{Value: math.NaN()}
			if e, ok := r.Differences[l.Score]; ok {
				if bar = e.bar(); e.deciding() == nil {
					bar.Low, bar.High = bar.Value, bar.Value
				}
			}
			panel.Values = append(panel.Values, bar)
		}
		c.Panels = append(c.Panels, panel)
	}
	seeds := text.Plural(high, "seed", "seeds")
	if low < high {
		seeds = fmt.Sprintf("%d to %s", low, seeds)
	}
	c.Note = "over " + seeds + ": mean and 95 % interval of Student's t; gray: 0 is in the interval"
	if low < verdict.EnoughSeeds {
		c.Note += ", or there are fewer than three seeds and no interval is shown"
	}
	return c
}
