package compare

import (
	"fmt"

	"tercet/internal/cli/base"
	"tercet/internal/record/printed"
	"tercet/internal/render"
)

// table has a row for each side and score. Rows without a value, and columns that no row
// fills, are left out for people, and stay for programs.
func table(d *printed.ComparedRuns, format string) *render.Table {
	t := &render.Table{Title: "compared with " + d.Sides[0].Name, Columns: render.Columns("side", "score", "first", "this", "difference", "seeds", "over seeds", "p", "seeds needed", "queries", "over queries", "p (queries)", "verdict")}
	bare := base.Bare(format)
	for _, p := range d.Differences {
		row := make([]render.Cell, len(t.Columns))
		row[0], row[1] = render.Text(p.Side), render.Text(p.Score)
		if p.Mean != nil {
			row[2], row[3], row[4] = render.Number(*p.Values[0]), render.Number(*p.Values[1]), render.Number(*p.Mean)
			row[12] = render.Text(p.Verdict)
		}
		if q := p.Seeds; q != nil {
			row[5], row[7] = render.Int(p.Pairs), render.Number(q.P)
			switch {
			case q.CI95 == nil:
				t.Notes = append(t.Notes, fmt.Sprintf("%s of %s: all differences are equal, so that their spread is not known", p.Score, p.Side))
			case q.Needed > 0:
				row[6], row[8] = interval(*q.CI95), render.Int(q.Needed)
			default:
				row[6], row[8] = interval(*q.CI95), render.Text("more than 10,000")
			}
		}
		if q := p.Queries; q != nil {
			row[9], row[10], row[11] = render.Int(q.N), interval(q.CI95), render.Number(q.P)
		}
		if bare || p.Pairs > 0 || p.Unlike != "" { // a note says which side has no such score
			t.Rows = append(t.Rows, row)
		}
		if p.Unlike != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s of %s was measured with different settings: %s", p.Score, p.Side, p.Unlike))
		}
	}
	t.Notes = append(t.Notes, d.Notes...)
	if !bare {
		t.DropEmpty()
	}
	return t
}

func interval(ci [2]float64) render.Cell {
	return render.Text(fmt.Sprintf("[%.4f, %.4f]", ci[0], ci[1]))
}
