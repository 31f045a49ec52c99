package observe

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
)

// Read reads the results of runs, and says in notes which runs do not count. Errors
// wrap rundir.ErrRun: files that cannot be used.
func (d *Description) Read(runs []*rundir.Run) (all []*Observation, notes []string, err error) {
	runs, notes = d.usable(runs)
	for _, name := range d.Observe.Results {
		var with, without []*rundir.Run
		for _, r := range runs {
			has, why, err := d.has(r, name)
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
		runs, notes = with, append(notes, d.without(name, without)...)
	}
	for _, r := range runs {
		own, lost, err := d.each(r)
		if err != nil {
			return nil, nil, err
		}
		all, notes = append(all, own...), append(notes, lost...)
	}
	unlike, err := d.unlike(all)
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, unlike...)
	if d.Observe.Each == clusterings {
		notes = append(notes, d.without(clusterings, unclustered(runs))...)
	}
	if len(all) == 0 && d.Observe.Needed {
		return nil, nil, fmt.Errorf("%w: nothing to compare\n%s", rundir.ErrRun, strings.Join(notes, "\n"))
	}
	more, err := d.addFields(all)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		if err := d.measure(o); err != nil {
			return nil, nil, err
		}
	}
	return all, append(notes, more...), nil
}

// usable leaves out runs whose training came to no end, with notes.
func (d *Description) usable(runs []*rundir.Run) (out []*rundir.Run, notes []string) {
	for _, r := range runs {
		switch {
		case d.Observe.Status == "finished" && !r.Finished():
			notes = append(notes, r.Unfinished()[0]+"; it does not count")
		case d.Observe.Status == "ended" && !r.Finished() && !r.Lost():
			notes = append(notes, r.Unfinished()[0]+"; it does not count")
		case d.Observe.Status == "completed" && r.Lost():
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
func (d *Description) each(r *rundir.Run) (all []*Observation, notes []string, err error) {
	newOne := func(run *rundir.Run) *Observation {
		return &Observation{Run: run, Fields: map[string]string{}, Values: map[string]float64{}}
	}
	switch file, path, list := strings.Cut(d.Observe.Each, "#"); {
	case d.Observe.Each == clusterings:
		left := len(r.Left)
		if err := r.ReadClusterings(); err != nil {
			return nil, nil, err
		}
		notes = append(notes, r.Left[left:]...)
		for _, c := range r.Clusterings {
			o := newOne(r.Part(c))
			o.Run.Left = nil // noted
			o.Part = c.Method
			if _, err := rundir.ReadDocument(c.File, &o.entry, documents["cluster.json"]...); err != nil {
				return nil, nil, err
			}
			all = append(all, o)
		}
	case list:
		o := newOne(r)
		if err := o.load(d.Observe.Each); err != nil {
			return nil, nil, err
		}
		entries, _ := walk(o.files[file], path)
		items, _ := entries.([]any)
		lost := 0
		for _, entry := range items {
			if _, ok := walk(entry, d.Observe.Lost); d.Observe.Lost != "" && !ok {
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
		shown := lists.Filter(slices.Concat(d.Observe.Results, d.Observe.Also), func(name string) bool { return slices.Contains(kinds, name) })
		all = []*Observation{newOne(r.Only(shown...))}
	}
	return all, notes, nil
}
