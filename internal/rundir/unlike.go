package rundir

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/text"
)

// Unlike says of each score in what the runs' values of it are not measured in the same way,
// so that they have no mean and no difference.
func Unlike(runs []*Run, scores []string) map[string]string {
	dirs := make([]string, len(runs))
	for i, r := range runs {
		dirs[i] = r.Dir
	}
	out := map[string]string{}
	for _, score := range scores {
		if _, why := UnlikeParts(settings(runs, score), dirs); why != "" {
			out[score] = why
		}
	}
	return out
}

// settings are what a score of each run depends on.
func settings(runs []*Run, score string) [][]Label {
	out := make([][]Label, len(runs))
	for i, r := range runs {
		out[i] = r.Measured(score)
	}
	return out
}

// UnlikeParts are the parts in which settings differ, each with its values and the first
// that has each; names are those of the settings. A setting of nil takes no part; what a
// setting does not have is "none".
func UnlikeParts(settings [][]Label, names []string) (parts []string, why string) {
	var all []string
	for _, s := range settings {
		for _, l := range s {
			all = lists.AppendNew(all, l.Key)
		}
	}
	var said []string
	for _, part := range all {
		var values, list []string
		for i, s := range settings {
			if s == nil {
				continue
			}
			if v := PartOf(s, part); !slices.Contains(values, v) {
				values, list = append(values, v), append(list, fmt.Sprintf("%s (%s)", v, names[i]))
			}
		}
		if len(values) > 1 {
			parts, said = append(parts, part), append(said, part+" "+text.Some(list))
		}
	}
	return parts, strings.Join(said, "; ")
}

// PartOf is the value of a part of a source's labels; "none" where it has no such part.
func PartOf(s []Label, part string) string {
	for _, l := range s {
		if l.Key == part && l.Value != "" {
			return l.Value
		}
	}
	return "none"
}

// unlikeRows returns what to say of a run where the runs of a table are not measured in the
// same way: its value of each part in which they differ but for the images.
func unlikeRows(runs []*Run, scores []string) func(*Run) []string {
	parts := map[string][]string{}
	for _, score := range scores {
		parts[score], _ = UnlikeParts(settings(runs, score), make([]string, len(runs)))
	}
	return func(r *Run) []string {
		var out []string
		for _, score := range scores {
			own := r.Measured(score)
			for _, p := range parts[score] {
				if said := p + " " + PartOf(own, p); own != nil && p != ImagesPart && !slices.Contains(out, said) {
					out = append(out, said)
				}
			}
		}
		return out
	}
}

// UnlikeNotes say in what values that stand in several rows are not measured in the same
// way, scores with one reason together. Different images are shown by their numbers and
// the data's names, and attacks have notes of their own.
func UnlikeNotes(runs []*Run, scores []string) []string {
	dirs := make([]string, len(runs))
	for i, r := range runs {
		dirs[i] = r.Dir
	}
	why := map[string]string{}
	var reasons, out []string
	for _, score := range scores {
		all := settings(runs, score)
		for i, s := range all {
			all[i] = bare(s)
		}
		if _, w := UnlikeParts(all, dirs); w != "" {
			why[score] = w
			reasons = lists.AppendNew(reasons, w)
		}
	}
	for _, w := range reasons {
		of := slices.DeleteFunc(slices.Clone(scores), func(score string) bool { return why[score] != w })
		out = append(out, fmt.Sprintf("not measured in the same way in all rows: %s: %s", strings.Join(of, ", "), w))
	}
	return out
}

// bare is a setting without what other notes say; nil where nothing is left.
func bare(setting []Label) []Label {
	out := slices.DeleteFunc(setting, func(l Label) bool {
		return slices.Contains([]string{ImagesPart, "attack", "definition"}, l.Key)
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// LeftOut are the notes on scores of a row that have no mean, those for one reason
// together.
func LeftOut(row string, keys []string, why map[string]string) []string {
	var reasons []string
	of := map[string][]string{}
	for _, key := range keys {
		w, ok := why[key]
		if !ok {
			continue
		}
		if of[w] == nil {
			reasons = append(reasons, w)
		}
		of[w] = append(of[w], key)
	}
	var out []string
	for _, w := range reasons {
		out = append(out, fmt.Sprintf("%s: no mean of %s, since its runs are not measured in the same way: %s", row, strings.Join(of[w], ", "), w))
	}
	return out
}
