package study

import (
	"fmt"
	"slices"
	"strings"
)

func (s *Spec) check() error {
	if s.Title == "" {
		return fmt.Errorf("a study needs a title")
	}
	if err := s.checkSteps(); err != nil {
		return err
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		if t.Name == "" {
			return fmt.Errorf("table %d has no name", i+1)
		}
		if other := s.Table(t.Name); other != t {
			return fmt.Errorf("there are two tables %s", t.Name)
		}
		if t.From != "" {
			base := s.Table(t.From)
			if base == nil || slices.Index(s.Names(), base.Name) >= i {
				return fmt.Errorf("table %s: from names no table above it: %q", t.Name, t.From)
			}
			t.inherit(base)
		}
		if err := t.check(); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

// inherit takes what a table does not say from another one; fields and scores are added
// to.
func (t *Table) inherit(base *Table) {
	if t.Observe.Status == "" { // else it observes other runs
		events := t.Observe.Events
		if t.Observe = base.Observe; len(events) > 0 {
			t.Observe.Events = events
		}
	}
	t.Fields = append(slices.Clone(base.Fields), t.Fields...)
	t.Scores = append(slices.Clone(base.Scores), t.Scores...)
	t.Config, t.Repeats, t.Short = t.Config || base.Config, t.Repeats || base.Repeats, t.Short || base.Short
	for _, list := range []struct{ own, base *[]string }{{&t.Rows, &base.Rows}, {&t.Sort, &base.Sort}, {&t.Alike, &base.Alike}, {&t.Columns, &base.Columns}} {
		if *list.own == nil {
			*list.own = *list.base
		}
	}
	if t.Over == nil {
		t.Over = base.Over
	}
	if t.Best == nil {
		t.Best = base.Best
	}
	if t.Contrasts == nil {
		t.Contrasts = base.Contrasts
	}
}

// check refuses what the engine could not do, before any run is read.
func (t *Table) check() error {
	if !slices.Contains([]string{"", "finished", "completed", "ended"}, t.Observe.Status) {
		return fmt.Errorf("observe.status is %q; give finished, completed or ended", t.Observe.Status)
	}
	if !slices.Contains([]string{"", "rows", "contrasts", "claims"}, t.Show) {
		return fmt.Errorf("show is %q; give rows, contrasts or claims", t.Show)
	}
	if err := t.Description.Check(); err != nil {
		return err
	}
	if len(t.Rows) == 0 {
		return fmt.Errorf("rows name no field")
	}
	for _, name := range slices.Concat(t.Rows, t.Sort, t.Alike) {
		if t.Field(name) == nil {
			return fmt.Errorf("unknown field %q; valid: %s", name, strings.Join(t.FieldNames(), ", "))
		}
	}
	if err := t.checkReduce(); err != nil {
		return err
	}
	if err := t.checkRates(); err != nil {
		return err
	}
	if err := t.Best.check(t); err != nil {
		return err
	}
	if err := t.checkClaims(); err != nil {
		return err
	}
	if err := t.parseColumns(); err != nil {
		return err
	}
	if t.Plot != nil {
		return t.Plot.check(t)
	}
	return nil
}
