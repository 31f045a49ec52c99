package report

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
)

// only is the run with the results of some kinds alone.
func (r *RunDir) only(shown []resultKind) *RunDir {
	has := func(name string) bool {
		return slices.ContainsFunc(shown, func(k resultKind) bool { return k.name == name })
	}
	out := *r
	if !has("eval") {
		out.Eval = nil
	}
	if !has("attack") {
		out.Attack = nil
	}
	if !has("cluster") {
		out.Cluster = nil
	}
	return &out
}

func onlyOf(runs []*RunDir, shown []resultKind) []*RunDir {
	out := make([]*RunDir, len(runs))
	for i, r := range runs {
		out[i] = r.only(shown)
	}
	return out
}

// cautions are the notes on what makes scores of runs less than they seem, the same in
// every table. missing are those on what the runs lack.
func cautions(runs []*RunDir, scores, missing []string) []string {
	out := selected(runs)
	for _, r := range runs {
		out = append(out, r.Left...)
	}
	out = append(out, missing...)
	for _, r := range runs {
		out = append(out, r.unfinished()...)
		out = append(out, r.stale()...)
		out = append(out, r.changedKernels()...)
		out = append(out, r.partial()...)
	}
	out = append(out, certain(scores, runs)...)
	out = append(out, attacked(runs)...)
	out = append(out, meaningless(runs, scores)...)
	return append(out, mixed(runs, scores)...)
}

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
func (r *RunDir) outdated(from record.Source) (int, bool) {
	now, ok := checkpointStep(&r.Manifest, sourceOf(from).Checkpoint)
	if !ok || from.Step == now || r.Manifest.Status == "running" && from.Step > now {
		return 0, false
	}
	return now, true
}

// rowCautions say in few words what is to be said of the runs of a row, each by its name
// unless the same holds for all. unlike are the parts of settings in which rows differ.
func rowCautions(runs []*RunDir, unlike func(*RunDir) []string) string {
	var names, all []string
	same := true
	for _, r := range runs {
		said := strings.Join(append(r.brief(), unlike(r)...), "; ")
		names, all = append(names, r.name()), append(all, said)
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

// brief says in few words what makes the run's scores less than they seem.
func (r *RunDir) brief() []string {
	var out []string
	sources := r.sources()
	for _, k := range kinds {
		from, ok := sources[k.name]
		if !ok {
			continue
		}
		before := ""
		if len(sources) > 1 {
			before = k.name + ".json: "
		}
		if all := itemsOf(r.Manifest.Data, sourceOf(from).Split); all > 0 && from.Items < all {
			out = append(out, fmt.Sprintf("%s%d of %d %s images", before, from.Items, all, sourceOf(from).Split))
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

// unlikeRows returns what to say of a run where the runs of a table are not measured alike
// in some score: its value of each part in which they differ but for the images.
func unlikeRows(runs []*RunDir, keys []string, setting func(*RunDir, string) []Label) func(*RunDir) []string {
	parts := map[string][]string{}
	for _, key := range keys {
		settings, names := make([][]Label, len(runs)), make([]string, len(runs))
		for i, r := range runs {
			settings[i] = setting(r, key)
		}
		parts[key], _ = unlikeParts(settings, names)
	}
	return func(r *RunDir) []string {
		var out []string
		for _, key := range keys {
			own := setting(r, key)
			for _, p := range parts[key] {
				if said := p + " " + partOf(own, p); own != nil && p != imagesPart && !slices.Contains(out, said) {
					out = append(out, said)
				}
			}
		}
		return out
	}
}

// unlikeNotes say in what values that stand in several rows are not measured alike,
// scores with one reason together. That images differ is told by their numbers and the
// data's names, and attacks are noted by themselves.
func unlikeNotes(runs []*RunDir, keys []string, setting func(*RunDir, string) []Label) []string {
	bare := func(r *RunDir, key string) []Label {
		return slices.DeleteFunc(slices.Clone(setting(r, key)), func(l Label) bool {
			return slices.Contains([]string{imagesPart, "attack", "definition"}, l.Key)
		})
	}
	why := unlikeScores(runs, keys, func(r *RunDir, key string) []Label {
		if out := bare(r, key); len(out) > 0 {
			return out
		}
		return nil
	})
	var reasons, out []string
	for _, key := range keys {
		if w := why[key]; w != "" && !slices.Contains(reasons, w) {
			reasons = append(reasons, w)
		}
	}
	for _, w := range reasons {
		of := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return why[key] != w })
		out = append(out, fmt.Sprintf("not measured in the same way in all rows: %s: %s", strings.Join(of, ", "), w))
	}
	return out
}
