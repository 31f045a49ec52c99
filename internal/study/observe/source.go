package observe

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/theory"
)

// documents are the files of a run that paths can lead into, with their schemas, the
// present one first.
var documents = map[string][]string{
	"manifest.json": {record.RunSchema}, "pairs.json": {record.PairsSchema}, theory.PartitionFile: {record.PartitionSchema},
	"worst.json": {record.WorstSchema}, "certify.json": {record.CertifySchema},
	"eval.json": {record.EvalSchema}, names.Result("eval", "validation", "") + ".json": {record.EvalSchema}, "attack.json": {record.AttackSchema}, "cluster.json": {record.ClusterSchema, record.OldClusterSchema},
	"gap.json": {record.GapSchema, record.MetricSchema}, "stability.json": {record.StabilitySchema, record.MetricSchema},
}

// kinds are results that are chosen by split and checkpoint.
var kinds = []string{"eval", "attack", "worst", "certify"}

func isResult(name string) bool { return slices.Contains(kinds, name) || documents[name] != nil }

func resultNames() []string {
	return append(slices.Clone(kinds), slices.Sorted(maps.Keys(documents))...)
}

// Observation is one result of a run: of the run as a whole, of one of its clusterings, or
// of one entry of a list in a document.
type Observation struct {
	Run    *rundir.Run // with the results that count
	Part   string      // the clustering
	Fields map[string]string
	Values map[string]float64
	Curve  []Moment // by ascending step
	// Queries are the values of queries of scores that name them.
	Queries map[string]*QueryValues

	entry any            // of Results.Each
	files map[string]any // documents read so far
}

// A source is where a text or a number of an observation is:
//
//	config.KEY       a key of the run's config
//	manifest.PATH    manifest.json
//	FILE.json#PATH   a document in the run's directory
//	entry.PATH       the clustering, or the entry of the list, that is observed
//	part             the name of the clustering
//	score.KEY        a score by the key that tercet report uses
//	FIELD            a field above
func checkSource(source string, fields []string) error {
	head, rest, _ := strings.Cut(source, ".")
	file, path, isFile := strings.Cut(source, "#")
	switch {
	case source == "part", slices.Contains(fields, source):
		return nil
	case isFile && documents[file] == nil:
		return fmt.Errorf("unknown document %q; valid: %s", file, strings.Join(slices.Sorted(maps.Keys(documents)), ", "))
	case isFile && path != "", slices.Contains([]string{"config", "manifest", "entry", "score"}, head) && rest != "":
		return nil
	}
	return fmt.Errorf("%q is neither config.KEY, manifest.PATH, FILE.json#PATH, entry.PATH, score.KEY, part nor a field above", source)
}

// load reads the document that a source leads into, so that lookups cannot fail.
func (o *Observation) load(source string) error {
	file, _, isFile := strings.Cut(source, "#")
	if strings.HasPrefix(source, "manifest.") {
		file, isFile = "manifest.json", true
	}
	if _, done := o.files[file]; !isFile || done {
		return nil
	}
	var doc any
	if _, err := rundir.ReadDocument(filepath.Join(o.Run.Dir, file), &doc, documents[file]...); err != nil {
		return err
	}
	if o.files == nil {
		o.files = map[string]any{}
	}
	o.files[file] = doc
	return nil
}

// lookup is the value at a source; false where there is none.
func (o *Observation) lookup(source string) (any, bool) {
	if v, ok := o.Fields[source]; ok {
		return v, true
	}
	if file, path, isFile := strings.Cut(source, "#"); isFile {
		return walk(o.files[file], path)
	}
	head, rest, _ := strings.Cut(source, ".")
	switch head {
	case "part":
		return o.Part, o.Part != ""
	case "config":
		return o.Run.Value(rest)
	case "manifest":
		return walk(o.files["manifest.json"], rest)
	case "entry":
		return walk(o.entry, rest)
	case "score":
		return o.Run.Score(rest)
	}
	return nil, false
}

// walk follows keys separated by dots. Of a list the key N is entry N, from 0, and * is all its
// entries: their texts, separated by commas.
func walk(doc any, path string) (any, bool) {
	for path != "" {
		key, rest, _ := strings.Cut(path, ".")
		if list, is := doc.([]any); is {
			if key == "*" {
				return all(list, rest)
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			doc, path = list[i], rest
			continue
		}
		tree, ok := doc.(map[string]any)
		if !ok {
			return nil, false
		}
		if doc, ok = tree[key]; !ok || doc == nil {
			return nil, false
		}
		path = rest
	}
	return doc, doc != nil
}

// all are the texts at a path of each entry of a list.
func all(list []any, path string) (any, bool) {
	var out []string
	for _, entry := range list {
		if v, ok := walk(entry, path); ok {
			out = append(out, fmt.Sprint(v))
		}
	}
	return strings.Join(out, ", "), len(out) > 0
}

// Text is the value at a source as text, "" where there is none.
func (o *Observation) Text(source string) string {
	v, ok := o.lookup(source)
	if !ok {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return Short(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// Number is the value at a source as a number.
func (o *Observation) Number(source string) (float64, bool) {
	v, ok := o.lookup(source)
	switch v := v.(type) {
	case float64:
		return v, ok
	case string:
		x, err := strconv.ParseFloat(v, 64)
		return x, ok && err == nil
	}
	return 0, false
}

// Short is a number with as many digits as it needs.
func Short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
