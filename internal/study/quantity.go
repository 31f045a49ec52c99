package study

import (
	"fmt"
	"math"

	"tercet/internal/render"
	"tercet/internal/study/observe"
	"tercet/internal/verdict"
)

// Quantity is the value of a ClaimQuantity with its verdict, or the verdict on a whole
// claim.
type Quantity struct {
	Claim   string `json:"claim"`
	Data    string `json:"data"`
	Model   string `json:"model"`
	Other   string `json:"other,omitempty"`
	Classes string `json:"classes,omitempty"`
	Of      string `json:"of,omitempty"`
	What    string `json:"quantity"`
	Estimate
	Binomial bool   `json:"binomial,omitempty"` // Wilson's interval of a share of all pairs
	Rule     string `json:"rule,omitempty"`     // for "supported"
	Verdict  string `json:"verdict,omitempty"`

	plain bool
}

// world is what one verdict is about.
func (q *Quantity) world() string {
	return fmt.Sprintf("%s %q %q %q", q.Claim, q.Data, q.Model, q.Other)
}

// quantities are those of a claim about an item.
func (i *item) quantities(c *Claim) []Quantity {
	var out []Quantity
	for k := range c.Quantities {
		s := &c.Quantities[k]
		if !s.Where.Fits(i.text(nil)) || i.line != nil && s.Each != i.member {
			continue
		}
		for _, m := range estimators[s.By](i, s) {
			text := i.text(m.words)
			row := i.row()
			q := Quantity{Claim: c.ID, Data: row.Fields["data"], Model: row.Fields["model"], Other: row.Fields["other"], Classes: row.Fields["classes"],
				Of: observe.Fill(c.Of, text), What: observe.Fill(s.What, text), Estimate: m.estimate, Binomial: m.binomial, plain: s.Plain}
			if s.Of != "" {
				q.Of = observe.Fill(s.Of, text)
			}
			if m.atEnd {
				q.What = s.AtEnd
			}
			for name, at := range map[string]*string{"of": &q.Of, "classes": &q.Classes} {
				if v, ok := i.about[name]; ok {
					*at = v
				}
			}
			out = append(out, q.ruled(i, s, text)...)
		}
	}
	return out
}

// ruled is the quantity with the first rule that fits it, or with each.
func (q Quantity) ruled(i *item, s *ClaimQuantity, text func(string) string) []Quantity {
	var out []Quantity
	for _, r := range s.Rules {
		if !r.Where.Fits(text) || r.Rule == "" {
			continue
		}
		own := q
		rule := observe.Fill(r.Rule, text)
		parsed, err := parseRule(rule, nil)
		if err != nil {
			continue // what it is compared with is not known
		}
		claim, _ := (&Row{}).rule(rule)
		own.Verdict = claim.Of(q.deciding())
		if own.Rule = observe.Fill(r.Words, text); own.Rule == "" {
			own.Rule = parsed.words(q.plain)
		}
		if r.Or > 0 && i.b != nil {
			own = own.or(i, s.Score, r.Or)
		}
		if out = append(out, own); !s.All {
			return out
		}
	}
	if out == nil {
		return []Quantity{q}
	}
	return out
}

// deciding is the interval that a verdict may rest on. That of a share of all pairs covers
// the pairs, of which there are enough also with one seed.
func (q *Quantity) deciding() *[2]float64 {
	if q.Binomial {
		return q.CI95
	}
	return q.Estimate.deciding()
}

// or supports a claim in another way: the row's score less a share of its partner's, seed
// by seed, is below 0.
func (q Quantity) or(i *item, score string, share float64) Quantity {
	a, b := i.a[len(i.a)-1], i.b[0]
	var less []float64
	bothSeeds(a, b, func(k, j int) {
		less = append(less, a.obs[k].Values[score]-float64(share*b.obs[j].Values[score]))
	})
	if less == nil {
		return q
	}
	if v := verdict.Below(0).Of(EstimateOf(less).deciding()); v == verdict.Supported || q.Verdict == verdict.Contradicted {
		q.Verdict = v
	}
	return q
}

// cell is the quantity in a column.
func (q *Quantity) cell(c *column) render.Cell {
	if c.what == "n" {
		if q.N == 0 {
			return render.Missing()
		}
		return render.Int(q.N)
	}
	if c.what == "value" {
		return q.shown()
	}
	v := map[string]string{"claim": q.Claim, "data": q.Data, "model": q.Model, "other": q.Other, "classes": q.Classes, "of": q.Of,
		"quantity": q.What, "supported where": q.Rule, "verdict": q.Verdict}[c.what]
	cell := render.Text(v)
	if c.what == "quantity" && q.N > 0 && !q.plain {
		cell = cell.InPercent()
	}
	return cell
}

// shown is the value; what rounding leaves of a difference of equals is 0.
func (q *Quantity) shown() render.Cell {
	if q.N == 0 {
		return render.Missing()
	}
	clean := func(v float64) float64 {
		if math.Abs(v) < 1e-12 {
			return 0
		}
		return v
	}
	c := render.Number(clean(q.Value))
	if q.CI95 != nil {
		c = render.Interval(clean(q.Value), clean(q.CI95[0]), clean(q.CI95[1]))
	}
	if q.plain {
		return c
	}
	return c.InPercent()
}
