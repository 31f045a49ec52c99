package summary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// AttackScores are the scores of attacks in one variant.
type AttackScores struct {
	Variant       string
	Scores, Clean record.Scores
	// Right are the scores over the RightQueries queries whose nearest image was
	// of their class before the attack.
	Right        record.Scores
	RightQueries int
}

// AttackUnit shows a cell of a score in percent where the papers do: fractions.
func AttackUnit(key string, c render.Cell) render.Cell {
	if s, ok := attack.ScoreNamed(key); ok && s.Unit != attack.Fraction {
		return c
	}
	return c.InPercent()
}

// suiteKeys are the scores of the suite ers.
func suiteKeys() []string {
	attacks, _ := attack.Suite("ers")
	return attack.Keys(attacks)
}

// robustNote says which values of the scores keys mean a more robust model.
func robustNote(keys []string) string {
	lower := attack.KeysWhere(func(s attack.Score) bool { return s.Robust == attack.Lower && slices.Contains(keys, s.Key) })
	if lower == nil {
		return "higher is more robust"
	}
	return "higher is more robust, but lower for " + text.List(lower, "and")
}

// AttackTable has a row for each score: under attack in each variant, with its
// interval, and of the images as they are, which is what eps 0 gives. Below are
// the scores over queries that were right when clean.
func AttackTable(title string, variants []AttackScores) *render.Table {
	t := &render.Table{Title: title, Columns: []render.Column{{Name: "score"}}}
	var keys []string
	for _, v := range variants {
		t.Columns = append(t.Columns, render.Column{Name: v.Variant})
		for _, sc := range v.Scores {
			keys = lists.AppendNew(keys, sc.Key)
		}
	}
	for _, v := range variants {
		t.Columns = append(t.Columns, render.Column{Name: "clean, " + v.Variant})
	}
	row := func(name, key string, of func(AttackScores) record.Scores, clean bool) {
		unit := func(c render.Cell) render.Cell { return AttackUnit(key, c) }
		cells := []render.Cell{unit(render.Text(name))}
		for _, v := range variants {
			cells = append(cells, unit(measuredIn(of(v), key)))
		}
		for _, v := range variants {
			c := render.Missing()
			if s, ok := v.Clean.Get(key); ok && clean {
				c = unit(render.Number(s.Value))
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, k := range keys {
		row(k, k, func(v AttackScores) record.Scores { return v.Scores }, true)
	}
	t.Notes = append(t.Notes, robustNote(keys))
	var counts []string
	for _, v := range variants {
		if n := fmt.Sprint(v.RightQueries); v.Right != nil && !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	if counts == nil {
		return t
	}
	for _, k := range attack.KeysWhere(func(s attack.Score) bool { return s.Recall }) {
		if slices.Contains(keys, k) {
			row(k+", right when clean", k, func(v AttackScores) record.Scores { return v.Right }, false)
		}
	}
	t.Notes = append(t.Notes, rightNote(counts))
	return t
}

func rightNote(counts []string) string {
	of := strings.Join(counts, " and ") + " queries whose nearest image was of their class"
	if len(counts) == 1 && counts[0] == "1" {
		of = "query whose nearest image was of its class"
	}
	return "right when clean: the " + of + " before the attack"
}
