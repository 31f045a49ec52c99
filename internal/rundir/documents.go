package rundir

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/text"
)

// Has says that the run has a result document: eval, attack or cluster.
func (r *Run) Has(kind string) bool { return kindNamed(kind).from(r) != nil }

// From says what the run's document of a kind was computed from; false where it has none.
func (r *Run) From(kind string) (record.Source, bool) {
	from := kindNamed(kind).from(r)
	if from == nil {
		return record.Source{}, false
	}
	return *from, true
}

// Leaves says that the run has such a document, which is left out with a note.
func (r *Run) Leaves(kind string) bool {
	return slices.ContainsFunc(r.Left, func(note string) bool { return strings.HasPrefix(note, r.path(kind)+" ") })
}

// path is where the run has the document of a kind.
func (r *Run) path(kind string) string {
	if kind == "cluster" && r.clusterFile != "" {
		return r.clusterFile
	}
	return r.Of.Document(r.Dir, kind)
}

// Command is the command that makes the run's document of a kind.
func (r *Run) Command(kind string) string {
	k := kindNamed(kind)
	command := k.command
	if k.suite != "" {
		command += " " + option.Name("suite") + " " + k.suite
	}
	return fmt.Sprintf("tercet %s %s %s%s", command, option.Name("run"), text.ShellWord(r.Dir), r.Of.flags())
}

// Without says which runs lack a kind of document and what makes it; "" if none does. A run
// that collapsed or diverged has no weights to make it from.
func Without(kind string, runs []*Run) string {
	var lacking []*Run
	var dirs, held []string
	for _, r := range runs {
		switch {
		case r.Has(kind) || r.Lost() || r.Leaves(kind):
		case r.Of.Split == "validation" && r.Manifest.Data.Validation == nil:
			held = append(held, r.Dir)
		default:
			lacking, dirs = append(lacking, r), append(dirs, r.Dir)
		}
	}
	switch {
	case dirs == nil && held == nil:
		return ""
	case dirs == nil:
		return fmt.Sprintf("no validation images in %s; data.split.validation holds some out, in a new training", text.Some(held))
	}
	return fmt.Sprintf("no %s in %s; %s makes it", runs[0].Of.Document("", kind), text.Some(dirs), lacking[0].Command(kind))
}

// Only is the run with the results of some kinds alone.
func (r *Run) Only(kinds ...string) *Run {
	out := *r
	for _, k := range allKinds {
		if !slices.Contains(kinds, k.name) {
			k.drop(&out)
		}
	}
	return &out
}

// OnlyOf are the runs, each with the results of some kinds alone.
func OnlyOf(runs []*Run, kinds ...string) []*Run {
	out := make([]*Run, len(runs))
	for i, r := range runs {
		out[i] = r.Only(kinds...)
	}
	return out
}

// Part is the run with one of its clusterings as its only result.
func (r *Run) Part(c Clustering) *Run {
	out := r.Only()
	out.Cluster, out.clusterFile = c.Result, c.File
	return out
}

// results are the kinds of documents that the run has.
func (r *Run) results() []string {
	return slices.DeleteFunc(Kinds(), func(kind string) bool { return !r.Has(kind) })
}
