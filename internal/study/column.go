package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/render"
)

// column is a column of a table, in a spec "NAME [= WHAT] [as FORMAT...] [is RULE]". WHAT is
// a field or a score, by default the one of that name; "d SCORE" is the difference to what
// the row is compared with; n, runs, name, of, better and the parts of a claim are the
// engine's. RULE makes the column a verdict on the score.
type column struct {
	name, what string
	form       render.Column
	kind       string // text, int or number
	brief      bool   // the interval is in CSV and JSON alone
	mean, max  bool   // no interval; the largest value
	share      bool   // of scores that are 0 or 1: how many runs of how many have it
	optional   bool   // that some runs lack the value is no lack
	ifAny      bool   // left out where no run has the value
	rule       string
}

// formats are the words after "as".
var formats = map[string]func(*column){
	"text":     func(c *column) { c.kind = "text" },
	"int":      func(c *column) { c.kind = "int" },
	"number":   func(c *column) { c.kind = "number" },
	"percent":  func(c *column) { c.form.Percent = true },
	"paper":    func(c *column) { c.form.Paper = true },
	"brief":    func(c *column) { c.brief = true },
	"mean":     func(c *column) { c.mean = true },
	"max":      func(c *column) { c.max = true },
	"share":    func(c *column) { c.share = true },
	"optional": func(c *column) { c.optional = true },
	"if-any":   func(c *column) { c.ifAny = true },
	"error":    func(c *column) { c.form.Percent, c.form.Paper, c.form.Digits = true, true, 2 },
	"score":    func(c *column) { c.form.Percent, c.form.Paper, c.form.Digits = true, true, 1 },
}

// own are the columns that the engine fills.
var own = map[string]bool{"n": true, "runs": true, "difference": true, "of": true, "better": true,
	"claim": true, "quantity": true, "value": true, "supported where": true, "verdict": true}

func parseColumn(text string) (column, error) {
	c := column{kind: "text"}
	text, c.rule, _ = strings.Cut(text, " is ")
	text, formed, _ := strings.Cut(text, " as ")
	name, what, other := strings.Cut(text, " = ")
	c.name, c.what = strings.TrimSpace(name), strings.TrimSpace(what)
	if !other {
		c.what = c.name
	}
	for _, word := range strings.Fields(formed) {
		if digits, is := strings.CutPrefix(word, "."); is {
			n, err := strconv.Atoi(digits)
			if err != nil {
				return c, fmt.Errorf("column %s: %q is not a number of digits", c.name, word)
			}
			c.form.Digits = n
			continue
		}
		set, ok := formats[word]
		if !ok {
			return c, fmt.Errorf("column %s: unknown format %q", c.name, word)
		}
		set(&c)
	}
	c.form.Name = c.name
	return c, nil
}

// parseColumns reads the columns and refuses those of nothing.
func (t *Table) parseColumns() error {
	t.columns = nil
	for _, text := range t.Columns {
		c, err := parseColumn(text)
		if err != nil {
			return err
		}
		what := strings.TrimPrefix(c.what, "d ")
		if !own[what] && t.Field(what) == nil && t.Score(what) == nil && !slices.Contains(t.reduced(), what) {
			return fmt.Errorf("column %q shows nothing: unknown field or score %q", c.name, what)
		}
		if c.rule != "" {
			if _, err := parseRule(c.rule, t.ScoreNames()); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		t.columns = append(t.columns, c)
	}
	if len(t.columns) == 0 {
		return fmt.Errorf("a table needs columns")
	}
	return nil
}
