package study

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/study/observe"
	"tercet/internal/verdict"
)

// Claim is a statement about rows or curves, with the quantities and rules that decide
// its verdict.
type Claim struct {
	ID string `yaml:"id"`
	// Each says what a claim is made of: curve (rows along Reduce.Along), row, stream (rows
	// with evaluations during training), line (curves' largest rows along one of Axes), or
	// table (three rows or more that agree in Same).
	Each  string        `yaml:"each"`
	Where observe.Where `yaml:"where"`
	Same  []string      `yaml:"same"`  // of tables
	Score string        `yaml:"score"` // of streams
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

// Partner describes the row that another row is compared with.
type Partner struct {
	Where observe.Where `yaml:"where"`
	Same  []string      `yaml:"same"`
	Next  string        `yaml:"next"` // the field whose next larger value it has
}

// Axis says along which field the rows of a line differ, such as the number of classes.
type Axis struct {
	Name    string   `yaml:"name"`
	Same    []string `yaml:"same"`
	Of      string   `yaml:"of"`
	Classes string   `yaml:"classes"`
	Members bool     `yaml:"members"` // has the quantities of its rows, too
}

// ClaimQuantity is a number computed from rows, and the rules that make a verdict of its
// interval.
type ClaimQuantity struct {
	By      string        `yaml:"by"` // the name of an estimator
	Score   string        `yaml:"score"`
	Against string        `yaml:"against"` // the other score of a correlation
	Where   observe.Where `yaml:"where"`
	What    string        `yaml:"what"`
	Plain   bool          `yaml:"plain"`  // is no share of pairs, so is not shown in percent
	Of      string        `yaml:"of"`     // in place of the claim's
	AtEnd   string        `yaml:"at_end"` // What, where a peak is at that end of its curve
	Low     string        `yaml:"low"`    // of sizes, for means over some
	High    string        `yaml:"high"`
	Back    bool          `yaml:"reverse"` // the partner less the row
	Rules   []RuleWords   `yaml:"rules"`   // the first that fits; several rows if All is set
	All     bool          `yaml:"all_rules"`
	Each    bool          `yaml:"each_member"` // of a line
}

// RuleWords is a rule, and the words that tables show for it.
type RuleWords struct {
	Where observe.Where `yaml:"where"`
	Rule  string        `yaml:"rule"`
	Words string        `yaml:"words"`
	// Or supports the claim in another way: the score less this share of the partner's,
	// seed by seed, is below 0.
	Or float64 `yaml:"or_below_share"`
}

// checkClaims refuses what there is not.
func (t *Table) checkClaims() error {
	for _, c := range t.Claims {
		for _, q := range c.Quantities {
			if _, ok := estimators[q.By]; !ok {
				return fmt.Errorf("claim %s: unknown estimator %q", c.ID, q.By)
			}
			if q.By == "difference" && (t.Score(q.Score) == nil || c.With == nil) {
				return fmt.Errorf("claim %s: a difference needs a score of the table and with", c.ID)
			}
			if (q.By == "kendall" || q.By == "spearman") && (t.Score(q.Score) == nil || t.Score(q.Against) == nil || c.Each != "table") {
				return fmt.Errorf("claim %s: a rank correlation needs each: table, and two scores of the table: score and against", c.ID)
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
		if !slices.Contains([]string{"curve", "row", "stream", "line", "table"}, c.Each) {
			return fmt.Errorf("claim %s: each is %q; give curve, row, stream, line or table", c.ID, c.Each)
		}
		if c.Each != "row" && c.Each != "table" && t.Reduce == nil {
			return fmt.Errorf("claim %s: curves, streams and lines need reduce, which says what a curve is", c.ID)
		}
	}
	return nil
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
	worlds, order := observe.GroupBy(parts, func(q Quantity) string { return q.world() })
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
