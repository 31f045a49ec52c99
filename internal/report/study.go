package report

import (
	"slices"

	"tercet/internal/record"
)

// What a study asks of runs beside their documents.

// Value is the run's value of a config key, as its resolved text has it. Files with
// estimated noise, one for each run of a setting, all have the value found.
func (r *RunDir) Value(key string) (string, bool) {
	v, ok := r.label(key)
	return Label{key, v}.setting(), ok
}

// Finished says that a run's training came to its end.
func (r *RunDir) Finished() bool { return r.finished() }

// Lost says that a run has no result: it collapsed or diverged.
func (r *RunDir) Lost() bool { return r.lost() }

// Score is a run's score by the key that a report uses.
func (r *RunDir) Score(key string) (float64, bool) {
	v, ok := r.scores().Get(key)
	return v.Value, ok
}

// Unfinished says why a run without results that count has not come to its last step.
func (r *RunDir) Unfinished() []string {
	alone := *r
	alone.Eval, alone.Attack, alone.Cluster = nil, nil, nil
	return alone.unfinished()
}

// Has says that the run has a result document: eval, attack or cluster.
func (r *RunDir) Has(kind string) bool { return kindNamed(kind).has(r) }

// Leaves says that the run has such a document, which is left out with a note.
func (r *RunDir) Leaves(kind string) bool { return r.leaves(kindNamed(kind)) }

// Without says which runs lack such a document and what makes it; "" if none does.
func Without(kind string, runs []*RunDir) string { return kindNamed(kind).missing(runs) }

// Only is the run with the results of some kinds alone.
func (r *RunDir) Only(names ...string) *RunDir {
	return r.only(slices.DeleteFunc(slices.Clone(kinds), func(k resultKind) bool { return !slices.Contains(names, k.name) }))
}

// Part is the run with one of its clusterings as its only result.
func (r *RunDir) Part(c Clustering) *RunDir {
	out := r.Only()
	out.Cluster, out.clusterFile = c.Result, c.File
	return out
}

func kindNamed(name string) resultKind {
	return kinds[slices.IndexFunc(kinds, func(k resultKind) bool { return k.name == name })]
}

// Cautions are the notes on what makes scores of runs less than they seem, each once.
func Cautions(runs []*RunDir, scores []string) []string {
	var out []string
	for _, note := range append(cautions(runs, scores, nil), unlikeNotes(runs, scores, (*RunDir).measured)...) {
		if !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	return out
}

// RowCautions says in few words what is to be said of the runs of each row, of scores
// that stand in several rows.
func RowCautions(rows [][]*RunDir, scores []string) []string {
	unlike := unlikeRows(slices.Concat(rows...), scores, (*RunDir).measured)
	out := make([]string, len(rows))
	for i, runs := range rows {
		out[i] = rowCautions(runs, unlike)
	}
	return out
}

// Unlike says of each score in what the runs' values of it are not measured alike, so that
// they have no mean and no difference.
func Unlike(runs []*RunDir, scores []string) map[string]string {
	return unlikeScores(runs, scores, (*RunDir).measured)
}

// LeftOut are the notes on scores of a row that have no mean.
func LeftOut(row string, scores []string, why map[string]string) []string {
	return leftOut(row, scores, why)
}

// Versions says that runs were made by different versions.
func Versions(runs []*RunDir) []string {
	return Differ(runs, "made by different versions", func(r *RunDir) string { return r.Manifest.Version })
}

// Differ returns a note with the values, each with a run that has it, if the runs have
// more than one; "" is no value.
func Differ(runs []*RunDir, what string, of func(*RunDir) string) []string {
	return differ(runs, what, of)
}

// SelectedOn says how test images have chosen weights of the runs; "" where they have not.
func SelectedOn(runs []*RunDir) string { return chosenOn(runs) }

// SelectionColumn heads what SelectedOn says.
const SelectionColumn = selectionColumn

// CommonName is the name of runs that differ in the seed alone.
func CommonName(runs []*RunDir) string { return commonName(runs) }

// Word quotes s for a shell where it must be.
func Word(s string) string { return word(s) }

// ReadDocument reads the JSON document at path, which must be of one of the given schemas,
// the present one first, into v. found is false where there is no such file; errors wrap
// Other says of which images and weights a document is, in words; "" where it is of the test
// images and the last checkpoint.
func Other(s record.Source) string {
	if sourceOf(s).standard() {
		return ""
	}
	return sourceOf(s).words()
}
