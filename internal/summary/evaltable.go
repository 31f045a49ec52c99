package summary

import (
	"regexp"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

// headline are the scores that people ask for first; the others are variants of
// them and parts of which they are made.
var headline = regexp.MustCompile(`^(recall@[0-9]+|map|map@r|r_precision|mrr|nn_recall@[0-9]+|precision@[0-9]+|nmi|ami|ari|acc|purity|bcubed_f1)$`)

// baselineNames in the order of their columns.
var baselineNames = []string{"exact", "untrained", "pixels"}

// EvalTable shows scores beside those of the baselines, value names the first
// column of numbers. Unless all is set, only the scores of the headline are
// shown; left is how many are not.
func EvalTable(title, value string, own record.Evaluated, baselines map[string]record.Evaluated, all bool) (t *render.Table, left int) {
	t = &render.Table{Title: title, Columns: []render.Column{{Name: "score"}, {Name: value, Digits: 4}}}
	var others []record.Evaluated
	for _, b := range baselineNames {
		if j, ok := baselines[b]; ok {
			others = append(others, j)
			t.Columns = append(t.Columns, render.Column{Name: b, Digits: 4})
		}
	}
	for _, group := range []func(record.Evaluated) record.Scores{
		func(j record.Evaluated) record.Scores { return j.Retrieval },
		func(j record.Evaluated) record.Scores { return j.Clustering },
	} {
		for _, sc := range group(own) {
			if !all && !headline.MatchString(sc.Key) {
				left++
				continue
			}
			row := []render.Cell{render.Text(sc.Key), Measured(sc.Value)}
			for _, j := range others {
				row = append(row, measuredIn(group(j), sc.Key))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	if own.Excluded > 0 {
		t.Notes = append(t.Notes, text.Plural(own.Excluded, "query", "queries")+" left out: nobody else is of their class")
	}
	return t, left
}

// Measured is the cell of a measured value, with its interval if it has one.
func Measured(v record.Value) render.Cell {
	if v.CI95 == nil {
		return render.Number(v.Value)
	}
	return render.Interval(v.Value, v.CI95[0], v.CI95[1])
}

func measuredIn(s record.Scores, key string) render.Cell {
	if v, ok := s.Get(key); ok {
		return Measured(v)
	}
	return render.Missing()
}
