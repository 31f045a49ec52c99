package compare

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/theory/measure"
)

// narrow leaves out columns without content, names data that all rows share in the title,
// and puts the answer on a slope behind what was expected.
func narrow(t *render.Table) {
	const data, expected = "data", "expected"
	place := func(name string) int {
		return slices.IndexFunc(t.Columns, func(c render.Column) bool { return c.Name == name })
	}
	at, answers := place(expected), len(t.Columns)-1
	for _, r := range t.Rows {
		if r[at].Words() != "" {
			r[at] = render.Text(r[at].Words() + ": " + r[answers].Words())
		}
		r[answers] = render.Missing()
	}
	at = place(data)
	if n := len(t.Rows); n > 0 && !slices.ContainsFunc(t.Rows, func(r []render.Cell) bool { return r[at].Words() != t.Rows[0][at].Words() }) {
		t.Title += ": " + t.Rows[0][at].Words()
		for _, r := range t.Rows {
			r[at] = render.Missing()
		}
	}
	t.DropEmpty()
}

// unbounded says once for each reason why bounds are missing, and of which series.
func (s *Study) unbounded(o Layout) []string {
	var reasons []string
	of := map[string][]string{}
	for i := range s.Documents {
		d := &s.Documents[i]
		for _, ser := range d.Series {
			if !o.Settings {
				ser.Points = ser.Points[len(ser.Points)-1:]
			}
			why := measure.Unbounded(ser, d.Data.Radius)
			if why == "" {
				continue
			}
			if of[why] == nil {
				reasons = append(reasons, why)
			}
			name := ser.Name
			if d.Claim != "" {
				name = d.Claim + ", " + name
			}
			if !slices.Contains(of[why], name) {
				of[why] = append(of[why], name)
			}
		}
	}
	out := make([]string, len(reasons))
	for i, why := range reasons {
		out[i] = fmt.Sprintf("missing bounds: %s (%s)", why, strings.Join(of[why], "; "))
	}
	return out
}

// legend says what the columns are, as far as there is something in them.
func (s *Study) legend(o Layout) []string {
	measured := "measured: mean over repeats with its 95 % interval by Student's t; largest: of the repeats"
	if s.has("gamma") {
		measured += "; gamma is a lower estimate of the uniform stability"
	}
	out := []string{measured}
	if s.has("gap") {
		out = append(out, "gap, controlled: R - R_S with the control variate, which has mean 0: R_S - R of a fixed w is added")
	}
	if s.has("|gap|") {
		out = append(out, "|gap|, plain: |R - R_S| without it, as in Theorems 1 and 2; its mean may be below that of the controlled gap")
	}
	bounded, vacuity, sloped, expected := false, false, false, false
	for _, d := range s.Documents {
		for _, ser := range d.Series {
			sloped, expected = sloped || ser.Rate != nil, expected || ser.Expected != nil
			for _, p := range ser.Points {
				bounded = bounded || p.Bounds != nil
				vacuity = vacuity || slices.ContainsFunc(p.Bounds, func(b record.MetricBound) bool { return b.Vacuous != nil })
			}
		}
	}
	if bounded {
		of := "at any setting of the series"
		if o.Settings {
			of = "at the setting"
		}
		out = append(out,
			"printed and corrected: the forms of the bound with the paper's L = 8 B^2, alpha = 64 B^4; tight: with the smallest, 4 B^2 and 4 B^4, and in the corrected form the smaller factors that its proof allows",
			"violated: bounds below what was measured "+of+", of a mean below its whole interval; (inconclusive): the interval holds the bound, or there is none")
	}
	if s.sourced(oneForm) {
		out = append(out, oneForm+": the printed and the corrected form are the same")
	}
	if vacuity {
		out = append(out, "vacuous: bounds above the largest measured loss; they carry no information")
	}
	if sloped {
		out = append(out, "slope: of log mean on log size with its 95 % interval by bootstrap over repeats")
	}
	if expected {
		out = append(out, "expected: of this slope alone, supported where its whole interval lies in that range, contradicted where it lies outside")
	}
	if v := s.verdicts(); v != "" {
		out = append(out, "claims, by all quantities that they are evaluated by (table stability-checks): "+v)
	}
	return out
}

func (s *Study) has(quantity string) bool {
	return slices.ContainsFunc(s.Documents, func(d Document) bool {
		return slices.ContainsFunc(d.Series, func(ser record.MetricSeries) bool { return ser.Quantity == quantity })
	})
}

func (s *Study) sourced(source string) bool {
	return slices.ContainsFunc(s.Documents, func(d Document) bool {
		return slices.ContainsFunc(d.Series, func(ser record.MetricSeries) bool { return slices.Contains(sources(ser), source) })
	})
}

// verdicts are those on claims, such as "T3, mnist: supported".
func (s *Study) verdicts() string {
	var out []string
	for i := range s.Documents {
		if d := &s.Documents[i]; d.Claim != "" {
			out = append(out, d.name()+": "+d.Verdict)
		}
	}
	return strings.Join(out, "; ")
}
