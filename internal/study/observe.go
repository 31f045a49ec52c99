package study

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/rundir"
)

// observe reads the results of runs, and says in notes which runs do not count. Errors
// wrap rundir.ErrRun: files that cannot be used.
func (t *Table) observe(runs []*rundir.Run) (all []*observation, notes []string, err error) {
	runs, notes = t.usable(runs)
	for _, name := range t.Observe.Results {
		var with, without []*rundir.Run
		for _, r := range runs {
			has, why, err := t.has(r, name)
			switch {
			case err != nil:
				return nil, nil, err
			case has:
				with = append(with, r)
				if why != "" {
					notes = append(notes, why)
				}
			case why != "":
				notes = append(notes, why)
			default:
				without = append(without, r)
			}
		}
		runs, notes = with, append(notes, t.without(name, without)...)
	}
	for _, r := range runs {
		own, lost, err := t.each(r)
		if err != nil {
			return nil, nil, err
		}
		all, notes = append(all, own...), append(notes, lost...)
	}
	unlike, err := t.unlike(all)
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, unlike...)
	if t.Observe.Each == clusterings {
		notes = append(notes, t.without(clusterings, unclustered(runs))...)
	}
	if len(all) == 0 && t.Observe.Needed {
		return nil, nil, fmt.Errorf("%w: nothing to compare\n%s", rundir.ErrRun, strings.Join(notes, "\n"))
	}
	more, err := t.addFields(all)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		if err := t.measure(o); err != nil {
			return nil, nil, err
		}
	}
	return all, append(notes, more...), nil
}

// usable leaves out runs whose training came to no end, with notes.
func (t *Table) usable(runs []*rundir.Run) (out []*rundir.Run, notes []string) {
	for _, r := range runs {
		switch {
		case t.Observe.Status == "finished" && !r.Finished():
			notes = append(notes, r.Unfinished()[0]+"; it does not count")
		case t.Observe.Status == "ended" && !r.Finished() && !r.Lost():
			notes = append(notes, r.Unfinished()[0]+"; it does not count")
		case t.Observe.Status == "completed" && r.Lost():
			notes = append(notes, r.Unfinished()...)
		default:
			out = append(out, r)
		}
	}
	return out, notes
}

// clusterings in Observe.Each are the documents of RUN/cluster-METHOD.
const clusterings = "clusterings"

func unclustered(runs []*rundir.Run) []*rundir.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *rundir.Run) bool { return len(r.Clusterings) > 0 })
}

// each makes the observations of a run.
func (t *Table) each(r *rundir.Run) (all []*observation, notes []string, err error) {
	newOne := func(run *rundir.Run) *observation {
		return &observation{run: run, fields: map[string]string{}, values: map[string]float64{}}
	}
	switch file, path, list := strings.Cut(t.Observe.Each, "#"); {
	case t.Observe.Each == clusterings:
		left := len(r.Left)
		if err := r.ReadClusterings(); err != nil {
			return nil, nil, err
		}
		notes = append(notes, r.Left[left:]...)
		for _, c := range r.Clusterings {
			o := newOne(r.Part(c))
			o.run.Left = nil // noted
			o.part = c.Method
			if _, err := rundir.ReadDocument(c.File, &o.entry, documents["cluster.json"]...); err != nil {
				return nil, nil, err
			}
			all = append(all, o)
		}
	case list:
		o := newOne(r)
		if err := o.load(t.Observe.Each); err != nil {
			return nil, nil, err
		}
		entries, _ := walk(o.files[file], path)
		items, _ := entries.([]any)
		lost := 0
		for _, entry := range items {
			if _, ok := walk(entry, t.Observe.Lost); t.Observe.Lost != "" && !ok {
				lost++
				continue
			}
			one := newOne(r)
			one.files, one.entry = o.files, entry
			all = append(all, one)
		}
		if lost > 0 {
			notes = append(notes, fmt.Sprintf("%s: lost, so not counted: %d of %d %s", r.Dir, lost, len(items), path))
		}
	default:
		var shown []string
		for _, name := range slices.Concat(t.Observe.Results, t.Observe.Also) {
			if slices.Contains(kinds, name) {
				shown = append(shown, name)
			}
		}
		all = []*observation{newOne(r.Only(shown...))}
	}
	return all, notes, nil
}
