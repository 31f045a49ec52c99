package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/study/observe"
)

// item is what one quantity is about: curves, or single rows as curves of one.
type item struct {
	d      *Document
	a, b   []*Row            // b is nil where there is no partner
	about  map[string]string // in place of the row's own
	line   *Axis
	member bool
}

func (i *item) row() *Row { return i.a[0] }

// text is a source of the first row, of the partner behind "b.", or a word of the estimate.
func (i *item) text(words map[string]string) func(string) string {
	return func(source string) string {
		if v, ok := words[source]; ok {
			return v
		}
		if name, is := strings.CutPrefix(source, "b."); is {
			if i.b == nil {
				return ""
			}
			return i.b[0].text(name)
		}
		return i.row().text(source)
	}
}

// items are what the quantities of a claim are about.
func (d *Document) items(c *Claim) []*item {
	var all [][]*Row
	switch c.Each {
	case "curve":
		all = d.curves()
	case "row":
		all = d.singles()
	case "stream":
		rows, _ := d.streams(c.Score)
		for _, row := range rows {
			all = append(all, []*Row{row})
		}
	case "line":
		return d.lines(c)
	case "table":
		return d.tables(c)
	}
	var out []*item
	for _, a := range all {
		it := &item{d: d, a: a}
		score := ""
		if d.table.Reduce != nil {
			score = d.table.Reduce.Score
		}
		if !c.Where.Fits(a[0].text) || c.Least > 1 && (len(scored(a, score)) < c.Least || len(commonSeeds(a, score)) == 0) || c.Unless != nil && len(a) == 1 && c.Unless.of(a[0], d.singles()) != nil {
			continue
		}
		if c.With != nil {
			it.b = c.With.of(a[0], all)
			if c.Each == "row" || c.Each == "curve" && c.Alone {
				it.b = c.With.of(a[len(a)-1], d.singles())
			}
			if it.b == nil && !c.Alone {
				continue
			}
		}
		out = append(out, it)
	}
	return out
}

func commonSeeds(rows []*Row, score string) []uint64 {
	seeds, _ := grid(scored(rows, score), score)
	return seeds
}

func (d *Document) singles() [][]*Row {
	return lists.Map(d.all, func(row *Row) []*Row { return []*Row{row} })
}

// of is the first curve that goes with a row, or the one with the next value of a field;
// nil where there is none.
func (p *Partner) of(row *Row, all [][]*Row) []*Row {
	var best []*Row
	for _, c := range all {
		if !p.Where.Fits(c[0].text) || !agree(row, c[0], p.Same) {
			continue
		}
		if p.Next == "" {
			return c
		}
		own, _ := strconv.ParseFloat(row.Fields[p.Next], 64)
		v, _ := strconv.ParseFloat(c[0].Fields[p.Next], 64)
		if v <= own {
			continue
		}
		if best != nil {
			if w, _ := strconv.ParseFloat(best[0].Fields[p.Next], 64); w <= v {
				continue
			}
		}
		best = c
	}
	return best
}

// lines are groups of curves' largest rows that differ along one axis.
func (d *Document) lines(c *Claim) []*item {
	floors, _ := widest(d, d.curves())
	var out []*item
	var done []string
	for _, first := range floors {
		for k := range c.Axes {
			axis := &c.Axes[k]
			rows := slices.DeleteFunc(slices.Clone(floors), func(r *Row) bool { return !c.Where.Fits(r.text) || !agree(first, r, axis.Same) })
			rows = slices.DeleteFunc(rows, func(r *Row) bool { _, ok := r.Scores["bound"]; return !ok })
			id := axis.Name
			for _, s := range axis.Same {
				id += fmt.Sprintf(" %q", first.text(s))
			}
			if len(rows) < c.Least || !c.Where.Fits(first.text) || slices.Contains(done, id) || fitLine(rows) == nil {
				continue
			}
			done = append(done, id)
			words := func(s string) string { return observe.Fill(s, first.text) }
			out = append(out, &item{d: d, a: rows, line: axis, about: map[string]string{"of": words(axis.Of), "classes": words(axis.Classes)}})
			if axis.Members {
				for _, r := range rows {
					out = append(out, &item{d: d, a: []*Row{r}, line: axis, member: true})
				}
			}
		}
	}
	return out
}
