package observe

import (
	"fmt"
	"path/filepath"
	"strings"

	"tercet/internal/rundir"
)

// measure computes the scores of an observation, and reads its curve.
func (d *Description) measure(o *Observation) error {
	for _, s := range d.Scores {
		v, ok, err := d.evaluate(o, s)
		if err != nil {
			return err
		}
		if ok {
			o.Values[s.Name] = v
		}
		if s.Queries == "" {
			continue
		}
		if o.Queries == nil {
			o.Queries = map[string]*QueryValues{}
		}
		if o.Queries[s.Name], err = o.readQueries(s.Queries); err != nil {
			return err
		}
	}
	if len(d.Observe.Events) == 0 {
		return nil
	}
	var err error
	o.Curve, err = ReadCurve(filepath.Join(o.Run.Dir, "events.jsonl"), d.Observe.Events)
	return err
}

// evaluate is a score by its sum of terms; false where one of them is not there.
func (d *Description) evaluate(o *Observation, s Score) (v float64, ok bool, err error) {
	if s.Series != nil {
		return s.Series.value(o)
	}
	terms, signs := s.terms()
	for i, term := range terms {
		x, ok := o.Values[term]
		if d.Score(term) == nil {
			if err := o.load(term); err != nil {
				return 0, false, err
			}
			x, ok = o.Number(term)
		}
		switch {
		case !ok && s.Required:
			return 0, false, fmt.Errorf("%w: %s has no %s", rundir.ErrRun, o.Run.Dir, strings.Replace(term, "#", ": ", 1))
		case !ok:
			return 0, false, nil
		}
		v += float64(signs[i] * x)
	}
	if r := s.Range; r != nil && !(v >= r[0] && v <= r[1]) {
		return 0, false, fmt.Errorf("%w: %s: %s is %v, which is not between %v and %v", rundir.ErrRun, filepath.Join(o.Run.Dir, strings.Replace(s.From, "#", ": ", 1)), s.Name, v, r[0], r[1])
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
func (d *Description) checkScore(s Score) error {
	terms, _ := s.terms()
	if s.Name == "" || (len(terms) == 0) == (s.Series == nil) {
		return fmt.Errorf("give a name, and from or series")
	}
	if s.Series != nil {
		return s.Series.check(d.FieldNames())
	}
	for _, term := range terms {
		if d.Score(term) != nil && term != s.Name {
			continue
		}
		if err := checkSource(term, d.FieldNames()); err != nil {
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

// Score is a number of an observation.
type Score struct {
	Name   string      `yaml:"name"`
	From   string      `yaml:"from"`   // sources or scores before it, joined by " + " and " - "
	Series *Series     `yaml:"series"` // or of the log, in place of From
	Lower  bool        `yaml:"lower_is_better"`
	Range  *[2]float64 `yaml:"range"` // of what can be; else the file is an error
	// Queries is FILE.json#PATH of the values of queries that a result may store.
	Queries string `yaml:"queries"`
	// Required makes it an error that a run lacks the number.
	Required bool `yaml:"required"`
	// Stored gives a row of one run the interval that its result stores, over queries.
	Stored bool `yaml:"stored_interval"`
	// Whole leaves out the mean of a row where one of its observations lacks the number.
	Whole bool `yaml:"whole"`
}
