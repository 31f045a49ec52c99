package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/render"
	"tercet/internal/verdict"
)

// Claim is a statement about rows or curves, with the quantities that it is evaluated by.
type Claim struct {
	ID string `yaml:"id"`
	// Each says what a claim is made of: curve (rows along Reduce.Along), row, stream (rows
	// with evaluations during training), or line (curves' largest rows along one of Axes).
	Each  string `yaml:"each"`
	Where Where  `yaml:"where"`
	Score string `yaml:"score"` // of streams
	// Least is how many rows, or places of an axis, there must be.
	Least int `yaml:"least"`
	// Unless leaves out a curve of one row where another row fits.
	Unless *Partner `yaml:"unless"`
	// With is what each is set against; one without it is left out unless Alone is set.
	With       *Partner        `yaml:"with"`
	Alone      bool            `yaml:"alone"`
	Axes       []Axis          `yaml:"axes"`
	Of         string          `yaml:"of"`
	Quantities []ClaimQuantity `yaml:"quantities"`
}

// Partner is a row that another one goes with.
type Partner struct {
	Where Where    `yaml:"where"`
	Same  []string `yaml:"same"`
	Next  string   `yaml:"next"` // the field whose next larger value it has
}

// Axis is what rows of a line differ in.
type Axis struct {
	Name    string   `yaml:"name"`
	Same    []string `yaml:"same"`
	Of      string   `yaml:"of"`
	Classes string   `yaml:"classes"`
	Members bool     `yaml:"members"` // has the quantities of its rows, too
}

// ClaimQuantity is a number that a claim is evaluated by.
type ClaimQuantity struct {
	By    string      `yaml:"by"` // the name of an estimator
	Score string      `yaml:"score"`
	Where Where       `yaml:"where"`
	What  string      `yaml:"what"`
	Plain bool        `yaml:"plain"`  // is no share of pairs, so is not shown in percent
	Of    string      `yaml:"of"`     // in place of the claim's
	AtEnd string      `yaml:"at_end"` // What, where a peak is at that end of its curve
	Low   string      `yaml:"low"`    // of sizes, for means over some
	High  string      `yaml:"high"`
	Back  bool        `yaml:"reverse"` // the partner less the row
	Rules []RuleWords `yaml:"rules"`   // the first that fits; several rows if All is set
	All   bool        `yaml:"all_rules"`
	Each  bool        `yaml:"each_member"` // of a line
}

// RuleWords is a rule with what it says.
type RuleWords struct {
	Where Where  `yaml:"where"`
	Rule  string `yaml:"rule"`
	Words string `yaml:"words"`
	// Or supports the claim in another way: the score less this share of the partner's,
	// seed by seed, is below 0.
	Or float64 `yaml:"or_below_share"`
}

// Quantity is a number that a claim is evaluated by, or the verdict on all of a claim.
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

// checkClaims refuses what there is not.
func (t *Table) checkClaims() error {
	for _, c := range t.Claims {
		for _, q := range c.Quantities {
			if _, ok := estimators[q.By]; !ok {
				return fmt.Errorf("claim %s: there is no estimator %q", c.ID, q.By)
			}
			for _, r := range q.Rules {
				if len(r.Where)+len(r.Rule) == 0 {
					return fmt.Errorf("claim %s: a rule is empty", c.ID)
				}
				if _, err := parseRule(r.Rule, nil); err != nil && !strings.Contains(r.Rule, "{") {
					return fmt.Errorf("claim %s: %w", c.ID, err)
				}
			}
		}
		if !slices.Contains([]string{"curve", "row", "stream", "line"}, c.Each) {
			return fmt.Errorf("claim %s: each is %q; give curve, row, stream or line", c.ID, c.Each)
		}
	}
	if t.Claims != nil && t.Reduce == nil {
		return fmt.Errorf("claims need reduce, which says what a curve is")
	}
	return nil
}

// item is what one quantity is about: curves, or single rows as curves of one.
type item struct {
	d      *Document
	a, b   []*Row            // b is nil where there is no partner
	about  map[string]string // in place of the row's own
	line   *Axis
	member bool
}

func (i *item) row() *Row { return i.a[0] }

// text is a source of the first row, of the partner behind "b.", or a word of the estimate.
func (i *item) text(words map[string]string) func(string) string {
	return func(source string) string {
		if v, ok := words[source]; ok {
			return v
		}
		if name, is := strings.CutPrefix(source, "b."); is {
			if i.b == nil {
				return ""
			}
			return i.b[0].text(name)
		}
		return i.row().text(source)
	}
}

// evaluateClaims fills Claims: of each claim the quantities that runs are there for, and a
// verdict on all of them. It returns a note on claims without runs.
func (d *Document) evaluateClaims() (notes []string) {
	var parts []Quantity
	for i := range d.table.Claims {
		c := &d.table.Claims[i]
		for _, it := range d.items(c) {
			parts = append(parts, it.quantities(c)...)
		}
	}
	worlds, order := groupBy(parts, func(q Quantity) string { return q.world() })
	for _, w := range order {
		d.Claims = append(append(d.Claims, worlds[w]...), inAll(worlds[w]))
	}
	var without []string
	for _, c := range d.table.Claims {
		if !slices.ContainsFunc(parts, func(q Quantity) bool { return q.Claim == c.ID }) && !slices.Contains(without, c.ID) {
			without = append(without, c.ID)
		}
	}
	if without != nil {
		notes = append(notes, "no runs for "+strings.Join(without, ", "))
	}
	return notes
}

// inAll is the verdict on the quantities of a claim.
func inAll(own []Quantity) Quantity {
	out := Quantity{Claim: own[0].Claim, Data: own[0].Data, Model: own[0].Model, Other: own[0].Other}
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

// items are what the quantities of a claim are about.
func (d *Document) items(c *Claim) []*item {
	var all [][]*Row
	switch c.Each {
	case "curve":
		all = d.curves()
	case "row":
		for _, row := range d.all {
			all = append(all, []*Row{row})
		}
	case "stream":
		rows, _ := d.streams(c.Score)
		for _, row := range rows {
			all = append(all, []*Row{row})
		}
	case "line":
		return d.lines(c)
	}
	var out []*item
	for _, a := range all {
		it := &item{d: d, a: a}
		score := d.table.Reduce.Score
		if !c.Where.fits(a[0].text) || c.Least > 1 && (len(scored(a, score)) < c.Least || len(commonSeeds(a, score)) == 0) || c.Unless != nil && len(a) == 1 && c.Unless.of(a[0], d.singles()) != nil {
			continue
		}
		if c.With != nil {
			it.b = c.With.of(a[0], all)
			if c.Each == "row" || c.Each == "curve" && c.Alone {
				it.b = c.With.of(a[len(a)-1], d.singles())
			}
			if it.b == nil && !c.Alone {
				continue
			}
		}
		out = append(out, it)
	}
	return out
}

func commonSeeds(rows []*Row, score string) []uint64 {
	seeds, _ := grid(scored(rows, score), score)
	return seeds
}

func (d *Document) singles() [][]*Row {
	var out [][]*Row
	for _, row := range d.all {
		out = append(out, []*Row{row})
	}
	return out
}

// of is the first curve that goes with a row, or the one with the next value of a field;
// nil where there is none.
func (p *Partner) of(row *Row, all [][]*Row) []*Row {
	var best []*Row
	for _, c := range all {
		if !p.Where.fits(c[0].text) || !agree(row, c[0], p.Same) {
			continue
		}
		if p.Next == "" {
			return c
		}
		own, _ := strconv.ParseFloat(row.Fields[p.Next], 64)
		v, _ := strconv.ParseFloat(c[0].Fields[p.Next], 64)
		if v <= own {
			continue
		}
		if best != nil {
			if w, _ := strconv.ParseFloat(best[0].Fields[p.Next], 64); w <= v {
				continue
			}
		}
		best = c
	}
	return best
}

// lines are groups of curves' largest rows that differ along one axis.
func (d *Document) lines(c *Claim) []*item {
	floors, _ := widest(d, d.curves())
	var out []*item
	var done []string
	for _, first := range floors {
		for k := range c.Axes {
			axis := &c.Axes[k]
			rows := slices.DeleteFunc(slices.Clone(floors), func(r *Row) bool { return !c.Where.fits(r.text) || !agree(first, r, axis.Same) })
			rows = slices.DeleteFunc(rows, func(r *Row) bool { _, ok := r.Scores["bound"]; return !ok })
			id := axis.Name
			for _, s := range axis.Same {
				id += fmt.Sprintf(" %q", first.text(s))
			}
			if len(rows) < c.Least || !c.Where.fits(first.text) || slices.Contains(done, id) || fitLine(rows) == nil {
				continue
			}
			done = append(done, id)
			words := func(s string) string { return fill(s, first.text) }
			out = append(out, &item{d: d, a: rows, line: axis, about: map[string]string{"of": words(axis.Of), "classes": words(axis.Classes)}})
			if axis.Members {
				for _, r := range rows {
					out = append(out, &item{d: d, a: []*Row{r}, line: axis, member: true})
				}
			}
		}
	}
	return out
}

// quantities are those of a claim about an item.
func (i *item) quantities(c *Claim) []Quantity {
	var out []Quantity
	for k := range c.Quantities {
		s := &c.Quantities[k]
		if !s.Where.fits(i.text(nil)) || i.line != nil && s.Each != i.member {
			continue
		}
		for _, m := range estimators[s.By](i, s) {
			text := i.text(m.words)
			row := i.row()
			q := Quantity{Claim: c.ID, Data: row.Fields["data"], Model: row.Fields["model"], Other: row.Fields["other"], Classes: row.Fields["classes"],
				Of: fill(c.Of, text), What: fill(s.What, text), Estimate: m.estimate, Binomial: m.binomial, plain: s.Plain}
			if s.Of != "" {
				q.Of = fill(s.Of, text)
			}
			if m.atEnd {
				q.What = s.AtEnd
			}
			for name, at := range map[string]*string{"of": &q.Of, "classes": &q.Classes} {
				if v, ok := i.about[name]; ok {
					*at = v
				}
			}
			out = append(out, q.judged(i, s, text)...)
		}
	}
	return out
}

// judged are the quantity with the first rule that fits it, or with each.
func (q Quantity) judged(i *item, s *ClaimQuantity, text func(string) string) []Quantity {
	var out []Quantity
	for _, r := range s.Rules {
		if !r.Where.fits(text) || r.Rule == "" {
			continue
		}
		own := q
		rule := fill(r.Rule, text)
		parsed, err := parseRule(rule, nil)
		if err != nil {
			continue // what it is compared with is not known
		}
		claim, _ := (&Row{}).rule(rule)
		own.Verdict = claim.Of(q.CI95)
		if own.Rule = fill(r.Words, text); own.Rule == "" {
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

// or supports a claim in another way: the row's score less a share of its partner's, seed
// by seed, is below 0.
func (q Quantity) or(i *item, score string, share float64) Quantity {
	a, b := i.a[len(i.a)-1], i.b[0]
	var less []float64
	for k, seed := range a.Seeds {
		if j := slices.Index(b.Seeds, seed); j >= 0 {
			less = append(less, a.obs[k].values[score]-share*b.obs[j].values[score])
		}
	}
	if less == nil {
		return q
	}
	if v := verdict.Below(0).Of(estimate(less).CI95); v == verdict.Supported || q.Verdict == verdict.Contradicted {
		q.Verdict = v
	}
	return q
}

// words are the rule as tables say it: of fractions in percent.
func (r rule) words(plain bool) string {
	v, _ := strconv.ParseFloat(r.value, 64)
	switch {
	case v == 0 && r.kind != "within":
		return "interval " + r.kind + " 0"
	case plain && r.kind == "within":
		return fmt.Sprintf("interval within %v of %v", r.margin, v)
	case plain:
		return fmt.Sprintf("interval %s %v", r.kind, v)
	case r.kind == "within":
		return fmt.Sprintf("interval within %.4g %% of %.4g %%", 100*r.margin, 100*v)
	}
	return fmt.Sprintf("interval %s %v %%", r.kind, 100*v)
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
