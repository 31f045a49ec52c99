package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
	"tercet/internal/study/observe"
	"tercet/internal/text"
)

// caution says what makes the numbers of rows less than they seem: each by itself, and
// all in notes.
func (t *Table) caution(rows []*Row) []string {
	keys := t.documentScores()
	var all []*rundir.Run
	most := 0
	for _, row := range rows {
		all, most = append(all, row.Dirs()...), max(most, row.N)
	}
	var notes []string
	if len(keys) > 0 {
		groups, order := observe.GroupBy(rows, func(row *Row) string {
			var b strings.Builder
			for _, name := range t.Alike {
				fmt.Fprintf(&b, "%q ", row.Fields[name])
			}
			return b.String()
		})
		for _, id := range order {
			runs := lists.Map(groups[id], func(row *Row) []*rundir.Run { return row.Dirs() })
			for i, said := range rundir.RowWarnings(runs, keys) {
				groups[id][i].Caution = said
			}
			for _, note := range rundir.TableWarnings(slices.Concat(runs...), keys) {
				notes = lists.AppendNew(notes, note)
			}
		}
	}
	var fewer []string
	for _, row := range rows {
		if row.N < most && !t.Repeats {
			fewer = append(fewer, fmt.Sprintf("%s (%d)", rundir.CommonName(row.Dirs()), row.N))
		}
	}
	if fewer != nil {
		notes = append(notes, fmt.Sprintf("fewer than %s: %s", text.Plural(most, "seed", "seeds"), text.Some(fewer)))
	}
	return append(together(notes), rundir.Differ(all, "made by different versions", func(r *rundir.Run) string { return r.Manifest.Version })...)
}

// together joins notes that say the same of several files: "FILE is of ...".
func together(notes []string) []string {
	groups, order := observe.GroupBy(notes, func(note string) string {
		_, what, _ := strings.Cut(note, " is of ")
		return cmp.Or(what, note)
	})
	var out []string
	for _, what := range order {
		if same := groups[what]; len(same) > 1 {
			var files []string
			for _, note := range same {
				file, _, _ := strings.Cut(note, " is of ")
				files = append(files, file)
			}
			out = append(out, fmt.Sprintf("of %s: %s", what, text.Some(files)))
			continue
		}
		out = append(out, groups[what][0])
	}
	return out
}
