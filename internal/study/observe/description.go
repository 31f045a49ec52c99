package observe

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
)

// Description says what is observed of runs: which results, and what fields and scores each
// has.
type Description struct {
	Observe Results `yaml:"observe"`
	Fields  []Field `yaml:"fields"`
	Scores  []Score `yaml:"scores"`
}

// Field finds a field by its name; nil where there is none.
func (d *Description) Field(name string) *Field {
	for i := range d.Fields {
		if d.Fields[i].Name == name {
			return &d.Fields[i]
		}
	}
	return nil
}

// FieldNames lists the fields.
func (d *Description) FieldNames() []string {
	return lists.Map(d.Fields, func(f Field) string { return f.Name })
}

// Score finds a score by its name; nil where there is none.
func (d *Description) Score(name string) *Score {
	for i := range d.Scores {
		if d.Scores[i].Name == name {
			return &d.Scores[i]
		}
	}
	return nil
}

// ScoreNames lists the scores.
func (d *Description) ScoreNames() []string {
	return lists.Map(d.Scores, func(s Score) string { return s.Name })
}

// Check refuses what cannot be observed, before any run is read.
func (d *Description) Check() error {
	for _, r := range d.Observe.Results {
		if !isResult(r) {
			return fmt.Errorf("observe.results: unknown result %q; valid: %s", r, strings.Join(resultNames(), ", "))
		}
	}
	for _, r := range d.Observe.Also {
		if !slices.Contains(kinds, r) {
			return fmt.Errorf("observe.also: unknown result %q; valid: %s", r, strings.Join(kinds, ", "))
		}
	}
	for _, a := range d.Observe.Alike {
		if err := checkSource(a.From, nil); err != nil {
			return fmt.Errorf("observe.alike: %w", err)
		}
	}
	for i, f := range d.Fields {
		if f.Name == "" {
			return fmt.Errorf("field %d has no name", i+1)
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if err := f.checkSources(d.FieldNames()[:i]); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	for _, s := range d.Scores {
		if err := d.checkScore(s); err != nil {
			return fmt.Errorf("score %q: %w", s.Name, err)
		}
	}
	return nil
}
