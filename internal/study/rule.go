package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/verdict"
)

// rule is a claim about a number: "above X", "below X", "at least X", "at most X",
// "within M of X" or "beyond M of X", for X a number or a score of the same row. That a
// number is another one, or is not, states the margin M.
type rule struct {
	kind   string
	value  string
	margin float64
}

func parseRule(text string, scores []string) (rule, error) {
	r := rule{}
	margin := ""
	for _, kind := range []string{"above ", "below ", "at least ", "at most ", "within ", "beyond "} {
		if rest, is := strings.CutPrefix(text, kind); is {
			r.kind, r.value = strings.TrimSpace(kind), rest
		}
	}
	bad := fmt.Errorf("the rule is %q; give above X, below X, at least X, at most X, within MARGIN of X or beyond MARGIN of X", text)
	if r.hasMargin() {
		var ok bool
		if margin, r.value, ok = strings.Cut(r.value, " of "); !ok {
			return r, bad
		}
		var err error
		if r.margin, err = strconv.ParseFloat(margin, 64); err != nil || r.margin <= 0 {
			return r, fmt.Errorf("the rule is %q; its margin is a number above 0", text)
		}
	}
	if _, err := strconv.ParseFloat(r.value, 64); r.kind == "" || err != nil && !slices.Contains(scores, r.value) {
		return r, bad
	}
	return r, nil
}

// hasMargin says whether the rule states one.
func (r rule) hasMargin() bool { return r.kind == "within" || r.kind == "beyond" }

// claim is the rule for a value.
func (r rule) claim(v float64) verdict.Claim {
	switch r.kind {
	case "above":
		return verdict.Above(v)
	case "below":
		return verdict.Below(v)
	case "at least":
		return verdict.AtLeast(v)
	case "at most":
		return verdict.AtMost(v)
	case "beyond":
		return verdict.Beyond(v, r.margin)
	}
	return verdict.Within(v, r.margin)
}

// rule is a rule of a spec in this row; false where the row lacks the score that it names.
func (row *Row) rule(text string) (verdict.Claim, bool) {
	r, err := parseRule(text, []string{})
	v, bad := strconv.ParseFloat(r.value, 64)
	if err == nil && bad == nil {
		return r.claim(v), true
	}
	e, ok := row.Scores[r.value]
	return r.claim(e.Value), ok
}

// words are the rule as tables say it: of fractions in percent.
func (r rule) words(plain bool) string {
	v, _ := strconv.ParseFloat(r.value, 64)
	switch {
	case v == 0 && !r.hasMargin():
		return "interval " + r.kind + " 0"
	case plain && r.hasMargin():
		return fmt.Sprintf("interval %s %v of %v", r.kind, r.margin, v)
	case plain:
		return fmt.Sprintf("interval %s %v", r.kind, v)
	case r.hasMargin():
		return fmt.Sprintf("interval %s %.4g %% of %.4g %%", r.kind, 100*r.margin, 100*v)
	}
	return fmt.Sprintf("interval %s %v %%", r.kind, 100*v)
}
