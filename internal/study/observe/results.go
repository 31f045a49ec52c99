package observe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// Results says which results of runs are compared.
type Results struct {
	// Status is finished, completed for runs that came to no end but may have results, or
	// ended for those that finished, collapsed or diverged.
	Status string `yaml:"status"`
	// Results names the documents that a run must have: eval, attack, or a file.
	Results []string `yaml:"results"`
	// Also names results that count where they are there: eval, attack, worst, certify.
	Also []string `yaml:"also"`
	// Missing says how to make what is missing, with {run} for the run.
	Missing string `yaml:"missing"`
	// Each makes several observations of a run: clusterings, or FILE#PATH of a list.
	Each string `yaml:"each"`
	// Lost names a key of an entry of Each that is null where there is no result.
	Lost string `yaml:"lost"`
	// Events are values of evaluations during training: accuracies whose errors they are.
	Events map[string]string `yaml:"events"`
	// Alike are what results should share, said in a note where they differ.
	Alike []Alike `yaml:"alike"`
	// Needed makes it an error that no run has a result.
	Needed bool `yaml:"needed"`
}

// Alike is a source whose values are said where runs differ in it.
type Alike struct {
	From string `yaml:"from"`
	Says string `yaml:"says"` // begins the note
}

// has says whether a run has a result that counts; why is the reason where one that is there
// does not, or what is to be said of one that does.
func (d *Description) has(r *rundir.Run, name string) (has bool, why string, err error) {
	if slices.Contains(kinds, name) {
		if !r.Has(name) && r.Leaves(name) {
			why = strings.Join(r.Left, "\n")
		}
		return r.Has(name), why, nil
	}
	path := filepath.Join(r.Dir, name)
	var head struct {
		Schema  string         `json:"schema"`
		Source  *record.Source `json:"source"`
		Options struct {
			Limit int `json:"limit"`
		} `json:"options"`
	}
	found, err := rundir.ReadDocument(path, &head, documents[name]...)
	switch {
	case err != nil || !found:
		return false, "", err
	case head.Schema != documents[name][0] && name != "cluster.json":
		return false, path + " is of a metric: table stability shows it", nil
	case head.Source == nil:
		return true, "", nil
	case rundir.Other(*head.Source) != "":
		return false, fmt.Sprintf("%s is of the %s, not of the test images, checkpoint last: left out", path, rundir.Other(*head.Source)), nil
	case head.Source.Step != r.Manifest.Steps:
		return false, fmt.Sprintf("%s is of step %d, the run is at step %d; %s", path, head.Source.Step, r.Manifest.Steps, d.hint(r)), nil
	}
	return true, partly(path, r, *head.Source, head.Options.Limit), nil
}

// partly says that a result is of a part of the images.
func partly(path string, r *rundir.Run, from record.Source, limit int) string {
	d := r.Manifest.Data
	if limit == 0 || from.Items >= d.Test.Items && limit >= d.Train.Items {
		return ""
	}
	return fmt.Sprintf("%s is of %d of the %d %s images (limit %d)", path, from.Items, d.Test.Items, from.Set, limit)
}

// unlike says in what results differ that should be alike.
func (d *Description) unlike(all []*Observation) (notes []string, err error) {
	for _, a := range d.Observe.Alike {
		var runs []*rundir.Run
		values := map[*rundir.Run]string{}
		for _, o := range all {
			if err := o.load(a.From); err != nil {
				return nil, err
			}
			if _, done := values[o.Run]; !done {
				runs = append(runs, o.Run)
			}
			values[o.Run] = o.Text(a.From)
		}
		notes = append(notes, rundir.Differ(runs, a.Says, func(r *rundir.Run) string { return values[r] })...)
	}
	return notes, nil
}

// hint says how to make what a run lacks.
func (d *Description) hint(r *rundir.Run) string {
	return strings.ReplaceAll(d.Observe.Missing, "{run}", text.ShellWord(r.Dir))
}

// without says which runs lack a result.
func (d *Description) without(name string, runs []*rundir.Run) []string {
	if len(runs) == 0 {
		return nil
	}
	if slices.Contains(kinds, name) {
		if note := rundir.Without(name, runs); note != "" {
			return []string{note}
		}
		return nil
	}
	dirs := lists.Map(runs, func(r *rundir.Run) string { return r.Dir })
	what := "no " + name + " in "
	if name == clusterings {
		what = "not clustered: "
	}
	return []string{strings.TrimSuffix(what+text.Some(dirs)+"; "+d.hint(runs[0]), "; ")}
}
