package report

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/theory/measure"
)

// Table has a row for each series, at its last setting; a row for each setting where full
// is set.
func (s *StabilityStudy) Table(full bool) *Table {
	t := &Table{Title: "stability of triplet metric learning", Notes: slices.Clone(s.Notes)}
	for _, name := range []string{"claim", "data", "what", "quantity", "at"} {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	t.Columns = append(t.Columns, Column{Name: "measured", Digits: 4}, Column{Name: "largest", Digits: 4}, Column{Name: "bound"})
	for _, v := range boundKinds {
		t.Columns = append(t.Columns, Column{Name: v.name, Digits: 4})
	}
	t.Columns = append(t.Columns, Column{Name: "crossed"}, Column{Name: "slope", Digits: 3}, Column{Name: "expected"}, Column{Name: "verdict"})
	for i := range s.Documents {
		d := &s.Documents[i]
		for _, ser := range d.Series {
			points := ser.Points
			if !full {
				points = points[len(points)-1:]
			}
			for _, p := range points {
				t.Rows = append(t.Rows, stabilityRows(d, ser, p)...)
			}
		}
	}
	t.Notes = append(t.Notes,
		"measured: mean over repeats with its 95 % interval by Student's t; largest: of the repeats; gamma is a lower estimate of the uniform stability",
		"printed and corrected: the forms of the bound with the paper's L = 8 B^2, alpha = 64 B^4; tight: with the smallest, 4 B^2 and 4 B^4, and in the corrected form the smaller factors that its proof allows",
		"crossed: bounds below what was measured at any setting of the series, of a mean below its whole interval; slope: of log mean on log "+
			"size with its 95 % interval by bootstrap over repeats")
	return t
}

// boundKinds are the variants of a bound, in the order of columns.
var boundKinds = []struct{ name, form, constants string }{
	{"printed", "paper", "paper"}, {"printed, tight", "paper", "tight"}, {"corrected", "corrected", "paper"}, {"corrected, tight", "corrected", "tight"},
}

func boundKind(b measure.Bound) string {
	for _, k := range boundKinds {
		if b.Form == k.form && b.Constants == k.constants {
			return k.name
		}
	}
	return b.Form + ", " + b.Constants
}

// sources are the theorems that bound a series, in order; "" where none does.
func sources(s measure.Series) []string {
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

// stabilityRows are a row for each theorem that bounds the point.
func stabilityRows(d *StabilityDocument, s measure.Series, p measure.Point) [][]Cell {
	var out [][]Cell
	for _, source := range sources(s) {
		row := []Cell{Text(d.label()), Text(d.Data.Name), Text(s.Name), Text(s.Quantity), Text(place(s, p)), estimateCell(p.Measured), Number(p.Measured.Max), Text(source)}
		if p.Measured.N < 2 {
			row[6] = Missing()
		}
		for _, k := range boundKinds {
			c := Missing()
			for _, b := range p.Bounds {
				if b.Source == source && boundKind(b) == k.name {
					c = Number(b.Value)
				}
			}
			row = append(row, c)
		}
		out = append(out, append(row, Text(crossedBounds(s, source)), slopeCell(s.Rate), Text(expectedSlope(s)), Text(d.Verdict)))
	}
	return out
}

// place says where a point is: its size, and the sides where they differ.
func place(s measure.Series, p measure.Point) string {
	out := fmt.Sprintf("%s = %.4g", s.Axis, p.X)
	if p.Pos != p.Neg {
		out += fmt.Sprintf(" (%d + %d)", p.Pos, p.Neg)
	}
	return out
}

func estimateCell(e measure.Estimate) Cell {
	if e.CI95 == nil {
		return Single(e.Value)
	}
	return Interval(e.Value, e.CI95[0], e.CI95[1])
}

func slopeCell(r *measure.Rate) Cell {
	switch {
	case r == nil:
		return Missing()
	case r.CI95 == nil:
		return Number(r.Slope)
	}
	return Interval(r.Slope, r.CI95[0], r.CI95[1])
}

func expectedSlope(s measure.Series) string {
	if s.Expected == nil {
		return ""
	}
	return fmt.Sprintf("%g to %g", s.Expected[0], s.Expected[1])
}

// crossedBounds names the bounds of a theorem that some point of the series crosses.
func crossedBounds(s measure.Series, source string) string {
	var names []string
	for _, k := range boundKinds {
		for _, p := range s.Points {
			if slices.ContainsFunc(p.Bounds, func(b measure.Bound) bool { return b.Source == source && boundKind(b) == k.name && b.Crossed }) {
				names = append(names, k.name)
				break
			}
		}
	}
	switch {
	case source == "":
		return ""
	case names == nil:
		return "none"
	}
	return strings.Join(names, "; ")
}

// ChecksTable has a row for each sentence that a claim was judged by.
func (s *StabilityStudy) ChecksTable() *Table {
	t := &Table{Title: "claims about triplet metric learning", Notes: slices.Clone(s.Notes)}
	for _, name := range []string{"claim", "data", "says", "found", "holds"} {
		t.Columns = append(t.Columns, Column{Name: name})
	}
	for i := range s.Documents {
		d := &s.Documents[i]
		for _, c := range d.Checks {
			holds := "open"
			if c.Holds != nil {
				holds = map[bool]string{true: "yes", false: "no"}[*c.Holds]
			}
			t.Rows = append(t.Rows, []Cell{Text(d.label()), Text(d.Data.Name), Text(c.Says), Text(c.Found), Text(holds)})
		}
	}
	for _, d := range s.Documents {
		if d.Claim != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s: %s; positives: %s, negatives: %s", d.name(), d.Says, d.Verdict, d.Data.Positives, d.Data.Negatives))
		}
	}
	return t
}
