package compare

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/theory/measure"
	"tercet/internal/verdict"
)

// Layout says what a table of measurements shows.
type Layout struct {
	Settings bool // a row for each setting; else each series at its last one
	Exact    bool // numbers in full and every column, for programs; else four figures
}

// Table has a row for each series or setting, and each theorem that bounds it.
func (s *Study) Table(o Layout) *render.Table {
	t := &render.Table{Title: "stability of triplet metric learning"}
	for _, name := range []string{"claim", "data", "what", "quantity", "at", "measured", "largest", "bound"} {
		t.Columns = append(t.Columns, render.Column{Name: name, Digits: 4})
	}
	for _, v := range boundKinds {
		t.Columns = append(t.Columns, render.Column{Name: v.name, Digits: 4})
	}
	for _, name := range []string{"violated", "vacuous", "slope", "expected", "as expected"} {
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
	for i := range s.Documents {
		d := &s.Documents[i]
		for _, ser := range d.Series {
			if !o.Settings {
				t.Rows = append(t.Rows, rows(d, ser, ser.Points[len(ser.Points)-1], ser.Points)...)
				continue
			}
			for _, p := range ser.Points {
				t.Rows = append(t.Rows, rows(d, ser, p, []record.MetricPoint{p})...)
			}
		}
	}
	if !o.Exact {
		t.InFigures("slope")
		narrow(t)
	}
	t.Notes = slices.Concat(s.Notes, s.unbounded(o), s.legend(o))
	return t
}

// rows are a row for each theorem that bounds the point; crossed says which
// bounds any of the points crosses.
func rows(d *Document, s record.MetricSeries, p record.MetricPoint, all []record.MetricPoint) [][]render.Cell {
	var out [][]render.Cell
	for _, source := range sources(s) {
		row := []render.Cell{render.Text(d.label()), render.Text(d.Data.Name), render.Text(s.Name), render.Text(quantityName(s.Quantity)), render.Text(place(s, p)), estimateCell(p.Measured), render.Number(p.Measured.Max), render.Text(source)}
		if p.Measured.N < 2 {
			row[6] = render.Missing()
		}
		for _, k := range boundKinds {
			c := render.Missing()
			if b := boundOf(p, source, k.name); b != nil {
				c = render.Number(b.Value)
			}
			row = append(row, c)
		}
		out = append(out, append(row, render.Text(crossedBounds(all, source)), render.Text(vacuousBounds(p, source)), slopeCell(s.Rate), render.Text(expectedSlope(s)), render.Text(asExpected(s))))
	}
	return out
}

// quantityName tells the gap with the control variate from the plain one.
func quantityName(q string) string {
	switch q {
	case "gap":
		return "gap, controlled"
	case "|gap|":
		return "|gap|, plain"
	}
	return q
}

// boundKinds are the variants of a bound, in the order of columns.
var boundKinds = []struct{ name, form, constants string }{
	{"printed", "paper", "paper"}, {"printed, tight", "paper", "tight"}, {"corrected", "corrected", "paper"}, {"corrected, tight", "corrected", "tight"},
}

func boundKind(b record.MetricBound) string {
	for _, k := range boundKinds {
		if b.Form == k.form && b.Constants == k.constants {
			return k.name
		}
	}
	return b.Form + ", " + b.Constants
}

// oneForm are the sources that are printed as they are corrected; documents have the
// corrected form.
const oneForm = "Lemma 2"

// boundOf is the point's bound of that source and kind; nil where there is none.
func boundOf(p record.MetricPoint, source, kind string) *record.MetricBound {
	for i, b := range p.Bounds {
		k := boundKind(b)
		if b.Source == source && (k == kind || source == oneForm && k == strings.Replace(kind, "printed", "corrected", 1)) {
			return &p.Bounds[i]
		}
	}
	return nil
}

// sources are the theorems that bound a series, in order; "" where none does.
func sources(s record.MetricSeries) []string {
	var out []string
	for _, p := range s.Points {
		for _, b := range p.Bounds {
			if !slices.Contains(out, b.Source) {
				out = append(out, b.Source)
			}
		}
	}
	if out == nil {
		return []string{""}
	}
	return out
}

// place says where a point is: its size, and the sides where they differ.
func place(s record.MetricSeries, p record.MetricPoint) string {
	out := fmt.Sprintf("%s = %s", s.Axis, render.FourFigures(p.X))
	if p.Pos != p.Neg {
		out += fmt.Sprintf(" (%d + %d)", p.Pos, p.Neg)
	}
	return out
}

func estimateCell(e record.Estimate) render.Cell {
	if e.CI95 == nil {
		return render.Single(e.Value)
	}
	return render.Interval(e.Value, e.CI95[0], e.CI95[1])
}

func slopeCell(r *record.Rate) render.Cell {
	switch {
	case r == nil:
		return render.Missing()
	case r.CI95 == nil:
		return render.Number(r.Slope)
	}
	return render.Interval(r.Slope, r.CI95[0], r.CI95[1])
}

func expectedSlope(s record.MetricSeries) string {
	if s.Expected == nil {
		return ""
	}
	return fmt.Sprintf("%g to %g", s.Expected[0], s.Expected[1])
}

func asExpected(s record.MetricSeries) string {
	if s.Expected == nil {
		return ""
	}
	yes, _ := measure.AsExpected(s)
	return verdict.OfAnswer(yes)
}

// crossedBounds names the bounds of a theorem that some point crosses, and those that
// none crosses but some interval holds.
func crossedBounds(points []record.MetricPoint, source string) string {
	if source == "" {
		return ""
	}
	var crossed, open []string
	for _, k := range boundKinds {
		is, undecided := false, false
		for _, p := range points {
			if b := boundOf(p, source, k.name); b != nil {
				is, undecided = is || b.Crossed, undecided || b.Undecided
			}
		}
		switch {
		case is:
			crossed = append(crossed, k.name)
		case undecided:
			open = append(open, k.name+" (inconclusive)")
		}
	}
	if crossed == nil && open == nil {
		return "none"
	}
	return strings.Join(append(crossed, open...), "; ")
}

// vacuousBounds names the bounds of a theorem that are vacuous at the point; "" where that
// was not decided.
func vacuousBounds(p record.MetricPoint, source string) string {
	var names []string
	decided := 0
	for _, k := range boundKinds {
		if b := boundOf(p, source, k.name); b != nil && b.Vacuous != nil {
			if decided++; *b.Vacuous {
				names = append(names, k.name)
			}
		}
	}
	switch {
	case decided == 0:
		return ""
	case names == nil:
		return "none"
	case len(names) == decided:
		return "all"
	}
	return strings.Join(names, "; ")
}
