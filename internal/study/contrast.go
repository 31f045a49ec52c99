package study

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/study/observe"
)

// Difference holds the scores of one setting minus those of another, between runs of the
// same seed.
type Difference struct {
	Fields   map[string]string   `json:"fields"` // that both sides share
	Name     string              `json:"difference"`
	Where    string              `json:"of,omitempty"`
	N        int                 `json:"n"`
	Scores   map[string]Estimate `json:"scores"`
	Verdicts map[string]string   `json:"verdicts"` // on the first side being better
}

// put adds the difference of a score, if there is one.
func (d *Difference) put(s observe.Score, e Estimate, ok bool) {
	if ok {
		d.Scores[s.Name], d.Verdicts[s.Name] = e, better(e, s.Lower)
		d.N = max(d.N, e.N)
	}
}

// contrast makes the contrasts: of rows alone, or of rows along the field of Over.
func (t *Table) contrast(rows []*Row) []Difference {
	var out []Difference
	along := ""
	if t.Over != nil {
		along = t.Over.Field
	}
	lines, order := observe.GroupBy(rows, func(row *Row) string {
		var b strings.Builder
		for _, name := range t.Rows {
			if name != along {
				fmt.Fprintf(&b, "%q ", row.Fields[name])
			}
		}
		return b.String()
	})
	first := t.Rows[0]
	worlds, names := observe.GroupBy(order, func(id string) string { return lines[id][0].Fields[first] })
	for _, world := range names {
		places := t.places(lines, worlds[world])
		for _, c := range t.Contrasts {
			for _, a := range worlds[world] {
				if !c.A.Fits(lines[a][0].text) {
					continue
				}
				for _, p := range t.partners(&c, lines, worlds[world], lines[a][0]) {
					out = append(out, t.differences(lines[a], lines[p.id], places, p.where)...)
				}
			}
		}
	}
	return out
}

// partner is what a line is set against, with the words for both.
type partner struct {
	id    string
	where [2]string // the difference, and of what
}

// partners are the lines that a contrast sets against a, sorted by what they differ in.
func (t *Table) partners(c *Contrast, lines map[string][]*Row, ids []string, a *Row) []partner {
	var out []partner
	add := func(id, template string) {
		b := lines[id][0]
		words := func(template string) string {
			return observe.Fill(template, func(source string) string {
				side, name, _ := strings.Cut(source, ".")
				if side == "b" {
					return b.text(name)
				}
				return a.text(name)
			})
		}
		out = append(out, partner{id, [2]string{words(c.Name), words(template)}})
	}
	own := func(b *Row) bool { return c.B.Fits(b.text) && agree(a, b, c.Same) }
	for _, id := range ids {
		if own(lines[id][0]) {
			add(id, c.Where)
		}
	}
	if i := c.Instead; i != nil && a.text(i.Field) == i.Of {
		rest := slices.DeleteFunc(slices.Clone(c.Same), func(s string) bool { return s == i.Field })
		for _, id := range ids {
			b := lines[id][0]
			if b.text(i.Field) != i.By || !c.B.Fits(b.text) || !agree(a, b, rest) {
				continue
			}
			has := slices.ContainsFunc(ids, func(other string) bool {
				o := lines[other][0]
				return own(o) && !slices.ContainsFunc(t.Rows, func(name string) bool {
					return name != i.Field && (t.Over == nil || name != t.Over.Field) && o.Fields[name] != b.Fields[name]
				})
			})
			if !has {
				add(id, i.Where)
			}
		}
		slices.SortStableFunc(out, func(x, y partner) int {
			return t.compare(lines[x.id][0], lines[y.id][0], slices.DeleteFunc(slices.Clone(t.Rows), func(n string) bool { return n == i.Field }))
		})
	}
	return out
}

// differences are those of two lines, at each place of Over and over all, or of their one
// row.
func (t *Table) differences(a, b []*Row, places []string, words [2]string) []Difference {
	newOne := func(row *Row) Difference {
		return Difference{Fields: row.Fields, Name: words[0], Where: words[1], Scores: map[string]Estimate{}, Verdicts: map[string]string{}}
	}
	var out []Difference
	keep := func(d Difference) {
		if d.N > 0 {
			out = append(out, d)
		}
	}
	if t.Over == nil {
		d := newOne(a[0])
		for _, s := range t.comparedScores() {
			e, ok := less(a[0], b[0], s)
			d.put(s, e, ok)
		}
		keep(d)
		return out
	}
	high := map[string][]map[uint64]float64{}
	aboves := 0
	for _, at := range places {
		x, y := rowAt(a, t.Over.Field, at), rowAt(b, t.Over.Field, at)
		d := newOne(a[0])
		d.Fields = maps.Clone(a[0].Fields)
		d.Fields[t.Over.Field] = at
		v, _ := strconv.ParseFloat(at, 64)
		if v > t.Over.Above {
			aboves++
		}
		for _, s := range t.comparedScores() {
			e, ok := less(x, y, s)
			d.put(s, e, ok)
			if v > t.Over.Above {
				high[s.Name] = append(high[s.Name], bySeed(x, y, s))
			}
		}
		keep(d)
	}
	if aboves > 1 {
		d := newOne(a[0])
		d.Fields = maps.Clone(a[0].Fields)
		d.Fields[t.Over.Field] = "> " + observe.Short(t.Over.Above)
		for _, s := range t.comparedScores() {
			e, ok := over(eachMean(high[s.Name]))
			d.put(s, e, ok)
		}
		keep(d)
	}
	return out
}

// places are the values of the field of Over that some line has, in order.
func (t *Table) places(lines map[string][]*Row, ids []string) []string {
	if t.Over == nil {
		return nil
	}
	var out []string
	for _, id := range ids {
		for _, row := range lines[id] {
			out = lists.AppendNew(out, row.Fields[t.Over.Field])
		}
	}
	slices.SortFunc(out, t.Field(t.Over.Field).Compare)
	return out
}

func rowAt(line []*Row, field, value string) *Row {
	i := slices.IndexFunc(line, func(row *Row) bool { return row.Fields[field] == value })
	if i < 0 {
		return nil
	}
	return line[i]
}

// eachMean is each seed's mean over all places; a seed that lacks one is left out.
func eachMean(places []map[uint64]float64) map[uint64]float64 {
	out := map[uint64]float64{}
	for seed := range places[0] {
		sum, n := 0.0, 0
		for _, d := range places {
			if v, ok := d[seed]; ok {
				sum, n = sum+v, n+1
			}
		}
		if n == len(places) {
			out[seed] = sum / float64(n)
		}
	}
	return out
}
