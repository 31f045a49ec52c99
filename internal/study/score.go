package study

import (
	"fmt"
	"path/filepath"
	"strings"
	"tercet/internal/rundir"
)

// measure computes the scores of an observation, and reads its curve.
func (t *Table) measure(o *observation) error {
	for _, s := range t.Scores {
		v, ok, err := t.evaluate(o, s)
		if err != nil {
			return err
		}
		if ok {
			o.values[s.Name] = v
		}
		if s.Queries == "" {
			continue
		}
		if o.queries == nil {
			o.queries = map[string]*perQuery{}
		}
		if o.queries[s.Name], err = o.readQueries(s.Queries); err != nil {
			return err
		}
	}
	if len(t.Observe.Events) == 0 {
		return nil
	}
	var err error
	o.curve, err = readCurve(filepath.Join(o.run.Dir, "events.jsonl"), t.Observe.Events)
	return err
}

// evaluate is a score by its sum of terms; false where one of them is not there.
func (t *Table) evaluate(o *observation, s Score) (v float64, ok bool, err error) {
	if s.Series != nil {
		return s.Series.value(o)
	}
	terms, signs := s.terms()
	for i, term := range terms {
		x, ok := o.values[term]
		if t.score(term) == nil {
			if err := o.load(term); err != nil {
				return 0, false, err
			}
			x, ok = o.number(term)
		}
		switch {
		case !ok && s.Required:
			return 0, false, fmt.Errorf("%w: %s has no %s", rundir.ErrRun, o.run.Dir, strings.Replace(term, "#", ": ", 1))
		case !ok:
			return 0, false, nil
		}
		v += float64(signs[i] * x)
	}
	if r := s.Range; r != nil && !(v >= r[0] && v <= r[1]) {
		return 0, false, fmt.Errorf("%w: %s: %s is %v, which is not between %v and %v", rundir.ErrRun, filepath.Join(o.run.Dir, strings.Replace(s.From, "#", ": ", 1)), s.Name, v, r[0], r[1])
	}
	return v, true, nil
}

// terms are those of the sum in From.
func (s Score) terms() (terms []string, signs []float64) {
	sign := 1.0
	for _, word := range strings.Fields(s.From) {
		switch word {
		case "+":
			sign = 1
		case "-":
			sign = -1
		default:
			terms, signs = append(terms, word), append(signs, sign)
		}
	}
	return terms, signs
}

// checkScore refuses sources that there are not.
func (t *Table) checkScore(s Score) error {
	terms, _ := s.terms()
	if s.Name == "" || (len(terms) == 0) == (s.Series == nil) {
		return fmt.Errorf("give a name, and from or series")
	}
	if s.Series != nil {
		return s.Series.check(t.fieldNames())
	}
	for _, term := range terms {
		if t.score(term) != nil && term != s.Name {
			continue
		}
		if err := checkSource(term, t.fieldNames()); err != nil {
			return err
		}
	}
	if s.Queries != "" {
		if _, path, isFile := strings.Cut(s.Queries, "#"); !isFile || !strings.Contains(path, ".") {
			return fmt.Errorf("queries is %q; give FILE.json#PATH.SCORE of values of queries", s.Queries)
		}
		return checkSource(s.Queries, nil)
	}
	return nil
}
