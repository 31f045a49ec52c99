package report

import (
	"fmt"

	"tercet/internal/render"
	"tercet/internal/text"
)

// FloorLine is the straight line of training error over the lower bound of Theorem 1
// of DIBS, P(1-P)/(2(n_c-1)), which it follows with slope 1 and intercept 0. It is
// fitted for each seed by least squares, since the noise of one seed is alike at all
// rates.
type FloorLine struct {
	Slope     Estimate `json:"slope"`
	Intercept Estimate `json:"intercept"`
	Settings  int      `json:"settings"` // rows that have the bound
}

// fitLine fits the line to floors; nil where no seed has two different bounds.
func fitLine(floors []PairFloor) *FloorLine {
	type points struct{ x, y []float64 }
	bySeed := map[uint64]*points{}
	var order []uint64
	l := &FloorLine{}
	for _, f := range floors {
		if f.Lower == nil {
			continue
		}
		l.Settings++
		for i, seed := range f.row.Seeds {
			p := bySeed[seed]
			if p == nil {
				p, order = &points{}, append(order, seed)
				bySeed[seed] = p
			}
			t := f.row.runs[i].result.Theorem
			p.x, p.y = append(p.x, t.Lower), append(p.y, f.row.runs[i].result.Train.Error)
		}
	}
	var slopes, intercepts []float64
	for _, seed := range order {
		p := bySeed[seed]
		n, mx, my := float64(len(p.x)), 0.0, 0.0
		for i := range p.x {
			mx, my = mx+p.x[i]/n, my+p.y[i]/n
		}
		xx, xy := 0.0, 0.0
		for i := range p.x {
			xx += (p.x[i] - mx) * (p.x[i] - mx)
			xy += (p.x[i] - mx) * (p.y[i] - my)
		}
		if xx > 0 {
			slopes, intercepts = append(slopes, xy/xx), append(intercepts, my-xy/xx*mx)
		}
	}
	if slopes == nil {
		return nil
	}
	l.Slope, l.Intercept = estimateOf(slopes), estimateOf(intercepts)
	return l
}

// String is the line in words.
func (l *FloorLine) String() string {
	show := func(e Estimate, digits int) string { return render.Column{Digits: digits}.Show(e.cell) }
	return fmt.Sprintf("training error over P(1-P)/(2(K-1)) of %s: slope %s, intercept %s (fractions), fitted for each of %s",
		text.Plural(l.Settings, "setting", "settings"), show(l.Slope, 3), show(l.Intercept, 5), text.Plural(l.Slope.N, "seed", "seeds"))
}
