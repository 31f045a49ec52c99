package study

import (
	"fmt"
	"slices"

	"tercet/internal/render"
	"tercet/internal/text"
)

// The reducer "floor" keeps the largest network of each curve and adds the error of the
// best partition of graphs like its own, as far as it is stored with a run.
func init() {
	reducers["floor"] = reducer{[]string{"multicut"}, func(d *Document, curves [][]*Row) (rows []*Row, notes []string, err error) {
		rows, narrower := widest(d, curves)
		if narrower > 0 {
			notes = append(notes, "of each setting the largest network alone: "+text.Plural(narrower, "narrower one is", "narrower ones are")+" left out")
		}
		more, err := partitions(rows)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, more...)
		if l := fitLine(rows); l != nil {
			notes = append(notes, fmt.Sprintf("training error over P(1-P)/(2(K-1)) of %s: slope %s, intercept %s (fractions), fitted for each of %s",
				text.Plural(l.settings, "setting", "settings"), render.Column{Digits: 3}.Show(l.slope.cell()), render.Column{Digits: 5}.Show(l.intercept.cell()), text.Plural(l.slope.N, "seed", "seeds")))
		}
		return rows, notes, nil
	}}
}

// widest are the rows of the largest networks, in the order of all, and how many smaller
// ones there are.
func widest(d *Document, curves [][]*Row) (rows []*Row, narrower int) {
	for _, c := range curves {
		last := c[len(c)-1]
		if where := d.table.Reduce.Where; len(where) > 0 && !where.Fits(last.text) {
			continue
		}
		narrower += len(c) - 1
		rows = append(rows, from(last))
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return index(d.all, a) - index(d.all, b) })
	return rows, narrower
}

// index is the place of the row that a reduced one was made from.
func index(all []*Row, row *Row) int {
	return slices.IndexFunc(all, func(r *Row) bool { return r.obs[0] == row.obs[0] })
}

// floorLine is the straight line of training error over the lower bound of Theorem 1 of
// DIBS, P(1-P)/(2(K-1)), which it follows with slope 1 and intercept 0. It is fitted for
// each seed by least squares, since the noise of one seed is the same at all rates.
type floorLine struct {
	slope, intercept Estimate
	settings         int // rows that have the bound
}

// fitLine fits the line to rows; nil where no seed has two different bounds.
func fitLine(rows []*Row) *floorLine {
	type points struct{ x, y []float64 }
	by := map[uint64]*points{}
	var order []uint64
	l := &floorLine{}
	for _, row := range rows {
		if _, ok := row.Scores["bound"]; !ok {
			continue
		}
		l.settings++
		for i, seed := range row.Seeds {
			p := by[seed]
			if p == nil {
				p, order = &points{}, append(order, seed)
				by[seed] = p
			}
			v := row.obs[i].Values
			p.x, p.y = append(p.x, v["bound"]), append(p.y, v["train_error"])
		}
	}
	var slopes, intercepts []float64
	for _, seed := range order {
		if p := by[seed]; slices.Min(p.x) < slices.Max(p.x) {
			slope, intercept := leastSquares(p.x, p.y)
			slopes, intercepts = append(slopes, slope), append(intercepts, intercept)
		}
	}
	if slopes == nil {
		return nil
	}
	l.slope, l.intercept = EstimateOf(slopes), EstimateOf(intercepts)
	return l
}

// leastSquares is stat.Line with means that are summed as shares. Their last bits differ: the
// stored claims on pairs have these, the stored slopes of stability those of stat.Line.
func leastSquares(x, y []float64) (slope, intercept float64) {
	n, mx, my := float64(len(x)), 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	xx, xy := 0.0, 0.0
	for i := range x {
		xx += float64((x[i] - mx) * (x[i] - mx))
		xy += float64((x[i] - mx) * (y[i] - my))
	}
	return xy / xx, my - float64(xy/xx*mx)
}

// lineWords are those of a fitted line.
func (i *item) lineWords() map[string]string {
	return map[string]string{"n": fmt.Sprint(len(i.a)), "axis": i.line.Name}
}

func slopeOf(i *item, _ *ClaimQuantity) []measured {
	return []measured{{estimate: fitLine(i.a).slope, words: i.lineWords()}}
}

func interceptOf(i *item, _ *ClaimQuantity) []measured {
	return []measured{{estimate: fitLine(i.a).intercept, words: i.lineWords()}}
}
