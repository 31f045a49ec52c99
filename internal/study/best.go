package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
	"tercet/internal/study/observe"
)

// Best keeps, of the runs of one seed that agree in fields, the one with the best score,
// so that settings are compared after each was tuned with the same effort. The score must
// be of held-out images: after a choice by test images, test scores are too good.
type Best struct {
	By    string   `yaml:"by"` // a score
	Same  []string `yaml:"same"`
	Names string   `yaml:"names"` // what a run is called in the note on choices, with {source}; empty for no list of them
}

// check refuses scores and fields that the table has not.
func (b *Best) check(t *Table) error {
	if b == nil {
		return nil
	}
	if t.Score(b.By) == nil {
		return fmt.Errorf("best.by: unknown score %q", b.By)
	}
	for _, name := range b.Same {
		if t.Field(name) == nil {
			return fmt.Errorf("best.same: unknown field %q", name)
		}
	}
	return nil
}

// choose returns the chosen observations in their order, and says how often each was chosen.
// Those without the score are left out, with a note. A nil Best keeps all.
func (b *Best) choose(all []*observe.Observation) (out []*observe.Observation, notes []string) {
	if b == nil {
		return all, nil
	}
	best, tried := map[string]*observe.Observation{}, map[string]int{}
	key := func(o *observe.Observation) string {
		id := fmt.Sprint(o.Run.Manifest.Seed)
		for _, f := range b.Same {
			id += fmt.Sprintf(" %q", o.Text(f))
		}
		return id
	}
	var without []string
	for _, o := range all {
		v, ok := o.Values[b.By]
		if !ok {
			without = append(without, o.Run.Dir)
			continue
		}
		k := key(o)
		tried[k]++
		if w := best[k]; w == nil || v > w.Values[b.By] {
			best[k] = o
		}
	}
	chosen := map[string]int{}
	for _, o := range all {
		if best[key(o)] == o {
			out = append(out, o)
			chosen[observe.Fill(b.Names, o.Text)]++
		}
	}
	if len(out) > 0 {
		counts := slices.Sorted(maps.Values(tried))
		words := fmt.Sprint(counts[0])
		if last := counts[len(counts)-1]; last != counts[0] {
			words = fmt.Sprintf("%d to %d", counts[0], last)
		}
		note := fmt.Sprintf("chosen by %s among %s runs each", b.By, words)
		list := lists.Map(slices.Sorted(maps.Keys(chosen)), func(name string) string { return fmt.Sprintf("%s %d times", name, chosen[name]) })
		if b.Names != "" {
			note += ": " + strings.Join(list, ", ")
		}
		notes = append(notes, note)
	}
	if without != nil {
		slices.Sort(without)
		notes = append(notes, fmt.Sprintf("without %s, so not compared: %s", b.By, strings.Join(slices.Compact(without), ", ")))
	}
	return out, notes
}

// Chosen lists the directories of the runs that Best keeps. Errors: those that wrap
// rundir.ErrRun are of files, and of runs that have ended without the score of Best.
func (t *Table) Chosen(runs []*rundir.Run) ([]string, error) {
	all, _, err := t.Read(runs)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if _, ok := o.Values[t.Best.By]; !ok {
			return nil, fmt.Errorf("%w: %s has no %s, by which runs are chosen", rundir.ErrRun, o.Run.Dir, t.Best.By)
		}
	}
	kept, _ := t.Best.choose(all)
	return lists.Map(kept, func(o *observe.Observation) string { return o.Run.Dir }), nil
}
