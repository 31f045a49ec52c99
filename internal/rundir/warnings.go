package rundir

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/record"
)

// checkpointStep is the step of a checkpoint by the manifest; false where it does not say.
func checkpointStep(m *record.Manifest, checkpoint string) (int, bool) {
	switch {
	case checkpoint == "best" && m.Best != nil && m.Best.Step > 0:
		return m.Best.Step, true
	case checkpoint != "last":
		return 0, false
	case m.Checkpoint > 0:
		return m.Checkpoint, true
	}
	return m.Steps, m.Status != "running" // of older versions, which told it at the end
}

// outdated says of which step a result would be now; false where it is of that. Of a run
// that was killed, the manifest may be older than the checkpoint, but not newer.
func (r *Run) outdated(from record.Source) (int, bool) {
	now, ok := checkpointStep(&r.Manifest, SourceOf(from).Checkpoint)
	if !ok || from.Step == now || r.Manifest.Status == "running" && from.Step > now {
		return 0, false
	}
	return now, true
}

// brief says in few words what makes the run's scores less than they seem.
func (r *Run) brief() []string {
	var out []string
	have := r.results()
	for _, kind := range have {
		from, _ := r.From(kind)
		before := ""
		if len(have) > 1 {
			before = kind + ".json: "
		}
		if all := SetOf(r.Manifest.Data, SourceOf(from).Split).Items; all > 0 && from.Items < all {
			out = append(out, fmt.Sprintf("%s%d of %d %s images", before, from.Items, all, SourceOf(from).Split))
		}
		if now, ok := r.outdated(from); ok {
			out = append(out, fmt.Sprintf("%sstale: step %d of %d", before, from.Step, now))
		}
	}
	m := r.Manifest
	switch {
	case m.Stopped != nil && m.Status == "finished":
		out = append(out, fmt.Sprintf("stopped early at step %d of %d", m.Stopped.Step, m.Of))
	case m.Status == "finished":
	case m.Status == "running":
		out = append(out, "running, or killed")
	default:
		out = append(out, fmt.Sprintf("%s at step %d of %d", m.Status, m.Steps, m.Of))
	}
	return out
}

// Warnings say what makes scores of runs less than they seem. missing are those of what the
// runs lack.
func Warnings(runs []*Run, scores, missing []string) []string {
	out := selected(runs)
	for _, r := range runs {
		out = append(out, r.Left...)
	}
	out = append(out, missing...)
	for _, r := range runs {
		out = append(out, r.Ended()...)
		out = append(out, r.Stale()...)
		out = append(out, r.changedKernels()...)
		out = append(out, r.partial()...)
	}
	out = append(out, Certain(scores, runs)...)
	out = append(out, attacked(runs)...)
	out = append(out, budgets(runs, scores)...)
	out = append(out, meaningless(runs, scores)...)
	out = append(out, masked(runs, scores)...)
	return append(out, mixed(runs, scores)...)
}

// TableWarnings are the warnings of a table whose rows are to be compared, each once: those
// of its runs, and in what the scores of different rows are not measured in the same way.
func TableWarnings(runs []*Run, scores []string) []string {
	var out []string
	for _, note := range append(Warnings(runs, scores, nil), UnlikeNotes(runs, scores)...) {
		out = lists.AppendNew(out, note)
	}
	return out
}

// RowWarnings say in few words what is to be said of the runs of each row, of scores that
// stand in several rows: of each run by its name, unless the same holds for all.
func RowWarnings(rows [][]*Run, scores []string) []string {
	unlike := unlikeRows(slices.Concat(rows...), scores)
	out := make([]string, len(rows))
	for i, runs := range rows {
		out[i] = rowWarnings(runs, unlike)
	}
	return out
}

// rowWarnings are those of one row. unlike are the parts of settings in which rows differ.
func rowWarnings(runs []*Run, unlike func(*Run) []string) string {
	var names, all []string
	same := true
	for _, r := range runs {
		said := strings.Join(append(r.brief(), unlike(r)...), "; ")
		names, all = append(names, r.Name()), append(all, said)
		same = same && said == all[0]
	}
	if same && len(all) > 0 {
		return all[0]
	}
	var out []string
	for i, said := range all {
		if said != "" {
			out = append(out, names[i]+": "+said)
		}
	}
	return strings.Join(out, " | ")
}
