package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/verdict"
)

// PairClaim is a quantity that a claim about runs on pairs is evaluated by, or the verdict
// on all quantities of a claim. The claims are C1 to C8 of Fonseca & Guidetti, and C9,
// which follows from their paper's faults; the rules are those of
// docs/papers/similarity-in-noisy-setups.md.
type PairClaim struct {
	Claim   string `json:"claim"`
	Data    string `json:"data"`
	Model   string `json:"model"`
	Other   string `json:"other,omitempty"`   // other config keys in which runs differ
	Classes string `json:"classes,omitempty"` // absent in verdicts on all
	Of      string `json:"of,omitempty"`      // what is measured: such as "s2, PLN 10 %"
	What    string `json:"quantity"`
	// Estimate is a mean over seeds, or of differences seed by seed, with Student's
	// interval; Binomial says that its interval is Wilson's of a share of all pairs.
	Estimate
	Binomial bool   `json:"binomial,omitempty"`
	Rule     string `json:"rule,omitempty"`    // for "supported"
	Verdict  string `json:"verdict,omitempty"` // absent where no rule judges it

	plain bool // a number that is no share of pairs
}

// JudgeClaims fills Claims: of each claim the quantities that runs are there for, and a
// verdict on all of them: supported where each is, contradicted where one is, else
// inconclusive. Runs whose curves were not read carry no information on C8.
func (s *PairStudy) JudgeClaims() {
	of := *s // peaks, floors and streams have tables and notes of their own
	of.DoubleDescent()
	of.floors()
	of.StreamCurves()
	parts := slices.Concat(of.peakClaims(), of.raisedPeaks(), of.fitClaims(), of.kindClaims(), of.widthClaims(), of.rateClaims(),
		of.lineClaims(), of.streamClaims(), of.negativeClaims(), of.orderClaims())
	s.Claims = nil
	var done []string
	for _, p := range parts {
		if slices.Contains(done, p.world()) {
			continue
		}
		done = append(done, p.world())
		var own []PairClaim
		for _, q := range parts {
			if q.world() == p.world() {
				own = append(own, q)
			}
		}
		s.Claims = append(append(s.Claims, own...), inAll(own))
	}
	var without []string
	for i := 1; i <= 9; i++ {
		c := fmt.Sprintf("C%d", i)
		if !slices.ContainsFunc(parts, func(p PairClaim) bool { return p.Claim == c }) {
			without = append(without, c)
		}
	}
	if without != nil {
		s.Notes = append(s.Notes, "no runs for "+strings.Join(without, ", "))
	}
}

// world is what one verdict is about.
func (p PairClaim) world() string {
	return fmt.Sprintf("%s %q %q %q", p.Claim, p.Data, p.Model, p.Other)
}

// inAll is the verdict on the quantities of a claim.
func inAll(own []PairClaim) PairClaim {
	out := PairClaim{Claim: own[0].Claim, Data: own[0].Data, Model: own[0].Model, Other: own[0].Other}
	count := map[string]int{}
	var parts []string
	for _, p := range own {
		if p.Verdict != "" {
			parts = append(parts, p.Verdict)
			count[p.Verdict]++
		}
	}
	out.Verdict = verdict.All(parts...)
	out.What = fmt.Sprintf("all %d: %d supported, %d contradicted, %d inconclusive", len(parts), count[verdict.Supported], count[verdict.Contradicted], count[verdict.Inconclusive])
	return out
}

// about begins a quantity of a row.
func (row *PairRow) about(claim string) PairClaim {
	return PairClaim{Claim: claim, Data: row.Data, Model: row.Model, Other: row.other(), Classes: fmt.Sprint(row.Classes), Of: row.Scenario + ", " + row.noiseName()}
}

// estimate is the quantity with its value.
func (p PairClaim) estimate(what string, e Estimate) PairClaim {
	p.What, p.Estimate = what, e
	return p
}

// over is the quantity with a value for each seed.
func (p PairClaim) over(what string, values []float64) PairClaim {
	return p.estimate(what, estimateOf(values))
}

// rule puts a claim and its verdict to a quantity.
func (p PairClaim) rule(words string, c verdict.Claim) PairClaim {
	p.Rule, p.Verdict = words, c.Of(p.CI95)
	return p
}

// above0 asks for an interval above 0.
func (p PairClaim) above0() PairClaim { return p.rule("interval above 0", verdict.Above(0)) }

// below asks for an interval below a limit, a fraction.
func (p PairClaim) below(limit float64) PairClaim {
	return p.rule(fmt.Sprintf("interval below %v %%", 100*limit), verdict.Below(limit))
}

// within asks for an interval that is no farther from a value than a margin, both
// fractions.
func (p PairClaim) within(v, margin float64) PairClaim {
	if p.plain {
		return p.rule(fmt.Sprintf("interval within %v of %v", margin, v), verdict.Within(v, margin))
	}
	return p.rule(fmt.Sprintf("interval within %.4g %% of %.4g %%", 100*margin, 100*v), verdict.Within(v, margin))
}

// among says whether another row differs in no more than its noise, its width and what
// also names.
func (row *PairRow) among(other *PairRow, also ...string) bool {
	same := func(what, a, b string) bool { return a == b || slices.Contains(also, what) }
	return row.Data == other.Data && row.Model == other.Model && row.other() == other.other() && row.Online == other.Online && row.Scenario == other.Scenario &&
		same("classes", fmt.Sprint(row.Classes), fmt.Sprint(other.Classes)) && same("negatives", row.Negatives, other.Negatives) && same("order", row.Order, other.Order)
}

// differences are a - b of a score for the seeds that both rows have.
func differences(a, b *PairRow, key string) []float64 {
	var out []float64
	for i, seed := range a.Seeds {
		if k := slices.Index(b.Seeds, seed); k >= 0 {
			x, ok := a.runs[i].scores()[key]
			if y, too := b.runs[k].scores()[key]; ok && too {
				out = append(out, x-y)
			}
		}
	}
	return out
}

// ClaimsTable has a row for each quantity, and one for the verdict on each claim.
func (s *PairStudy) ClaimsTable(full bool) *render.Table {
	t := &render.Table{Title: "claims about runs on pairs", Notes: append(slices.Clone(s.Notes),
		"(%): in percent of the pairs; differences are taken seed by seed, at widths that the other seeds choose where they are at a peak; intervals: 95 %, Student's over n seeds, Wilson's of all pairs for a found P; without an interval a claim is inconclusive; what has no rule is shown without a verdict",
		"all: supported where each quantity is, contradicted where one is, else inconclusive", verdict.Comparisons(s.comparisons()))}
	for _, name := range []string{"claim", "data", "model", "other", "classes", "of", "quantity", "n"} {
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
	t.Columns = append(t.Columns, render.Column{Name: "value", Digits: 2}, render.Column{Name: "supported where"}, render.Column{Name: "verdict"})
	for _, c := range s.Claims {
		n := render.Missing()
		if c.N > 0 {
			n = render.Int(c.N)
		}
		what := render.Text(c.What)
		if c.Value != nil && !c.plain {
			what = what.InPercent()
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(c.Claim), render.Text(c.Data), render.Text(c.Model), render.Text(c.Other), render.Text(c.Classes), render.Text(c.Of), what, n, c.shown(), render.Text(c.Rule), render.Text(c.Verdict)})
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// comparisons are the intervals that a claim was compared with.
func (s *PairStudy) comparisons() int {
	n := 0
	for _, c := range s.Claims {
		if c.Rule != "" && c.CI95 != nil {
			n++
		}
	}
	return n
}

// shown is the value; what rounding leaves of a difference of equals is 0.
func (p PairClaim) shown() render.Cell {
	if p.Value == nil {
		return render.Missing()
	}
	clean := func(v float64) float64 {
		if math.Abs(v) < 1e-12 {
			return 0
		}
		return v
	}
	c := render.Number(clean(*p.Value))
	if p.CI95 != nil {
		c = render.Interval(clean(*p.Value), clean(p.CI95[0]), clean(p.CI95[1]))
	}
	if p.plain {
		return c
	}
	return c.InPercent()
}
