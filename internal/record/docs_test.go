package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/testutil"
)

// parts are the types that have a table of their own on a page of docs, under their
// heading; other types are shown within the table of the document that holds them.
var parts = map[reflect.Type]string{
	reflect.TypeFor[record.Source](): "source", reflect.TypeFor[record.CostRecord](): "cost", reflect.TypeFor[record.Scores](): "scores", reflect.TypeFor[record.Value](): "measured-numbers",
	reflect.TypeFor[record.Set](): "data-sets", reflect.TypeFor[record.Noise](): "noise-on-training-data", reflect.TypeFor[record.PairGraph](): "pair-graphs", reflect.TypeFor[record.Triplets](): "drawn-triplets",
	reflect.TypeFor[record.Crafted](): "defenses", reflect.TypeFor[record.AttackRecord](): "what-an-attack-did", reflect.TypeFor[record.AttackOptions](): "attack-options", reflect.TypeFor[record.CertifyOptions](): "certify-options",
	reflect.TypeFor[record.Movement](): "movement", reflect.TypeFor[record.Sides](): "gaps", reflect.TypeFor[record.NoiseEstimate](): "noise-estimates", reflect.TypeFor[record.PairScore](): "scores-of-given-pairs",
	reflect.TypeFor[record.DIBSBounds](): "dibs-bounds", reflect.TypeFor[record.Estimate](): "estimates", reflect.TypeFor[record.MetricBound](): "bounds", reflect.TypeFor[record.Coverage](): "coverage",
	reflect.TypeFor[record.MetricSeries](): "series", reflect.TypeFor[record.UniformResult](): "uniform-stability", reflect.TypeFor[record.OnAverageResult](): "on-average-stability", reflect.TypeFor[record.GapResult](): "generalization-gap",
	reflect.TypeFor[record.ClusterOptions](): "clustering-options", reflect.TypeFor[record.MulticutRecord](): "multicut", reflect.TypeFor[record.Learner](): "learner", reflect.TypeFor[record.MetricEval](): "fitted-metric",
	reflect.TypeFor[printed.SetStats](): "statistics-of-a-set", reflect.TypeFor[printed.BenchResult](): "results-of-a-job", reflect.TypeFor[printed.Binary](): "version",
}

// tables are the types whose keys stand on the pages of docs.
var tables = func() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, d := range record.Kept {
		out[reflect.TypeOf(d).Name()] = reflect.TypeOf(d)
	}
	for t := range parts {
		out[t.Name()] = t
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[record.Event](), reflect.TypeFor[printed.Assign](), reflect.TypeFor[record.Export](), reflect.TypeFor[record.EvalTask](), reflect.TypeFor[record.ClusterTask](), reflect.TypeFor[record.Search](), reflect.TypeFor[printed.Studies](), reflect.TypeFor[printed.StudyPlan](), reflect.TypeFor[printed.Archive](), reflect.TypeFor[printed.Table](),
		reflect.TypeFor[printed.ExportedModel](), reflect.TypeFor[printed.Preprocess](), reflect.TypeFor[printed.Preview](), reflect.TypeFor[printed.PackedImages](), reflect.TypeFor[printed.Inspected](), reflect.TypeFor[printed.Datasets](), reflect.TypeFor[printed.Devices](), reflect.TypeFor[printed.Plan](), reflect.TypeFor[printed.Trained](), reflect.TypeFor[printed.RunList](), reflect.TypeFor[printed.SweepStatus](), reflect.TypeFor[printed.Tuned](), reflect.TypeFor[printed.Script](), reflect.TypeFor[printed.RunListing](), reflect.TypeFor[printed.RunDifference](), reflect.TypeFor[printed.RemovedRuns](), reflect.TypeFor[printed.ExtendedRun](), reflect.TypeFor[printed.ExportedRuns](), reflect.TypeFor[printed.ShownRun](), reflect.TypeFor[printed.ComparedRuns](), reflect.TypeFor[printed.Bands](),
		reflect.TypeFor[printed.ShownConfig](), reflect.TypeFor[printed.ConfigCheck](), reflect.TypeFor[printed.ConfigKeys](), reflect.TypeFor[printed.ConfigSchemaText](), reflect.TypeFor[printed.ConfigInit](),
		reflect.TypeFor[printed.BoundDIBS](), reflect.TypeFor[printed.BoundNoise](), reflect.TypeFor[printed.BoundAmbiguous](), reflect.TypeFor[printed.BoundStability](), reflect.TypeFor[printed.BoundPartition](),
		reflect.TypeFor[printed.Bench](), reflect.TypeFor[printed.Doctor](), reflect.TypeFor[printed.Error](), reflect.TypeFor[printed.Help](), reflect.TypeFor[printed.Man](), reflect.TypeFor[printed.Completion](), reflect.TypeFor[printed.Version](),
	} {
		out[t.Name()] = t
	}
	delete(out, "Scores") // an object of measured numbers
	delete(out, "Binary") // the keys of Version
	return out
}()

const head = "| key | type | meaning |\n| --- | --- | --- |\n"

// keyTable is the table of the keys of a type.
func keyTable(t *testing.T, typ reflect.Type) string {
	var b strings.Builder
	b.WriteString(head)
	addKeys(t, &b, "", typ, false)
	return b.String()
}

func addKeys(t *testing.T, b *strings.Builder, before string, typ reflect.Type, inPart bool) {
	for f := range fields(typ) {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			addKeys(t, b, before, embedded, inPart)
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		if name == "-" {
			continue
		}
		doc := quoted.ReplaceAllString(strings.ReplaceAll(f.Tag.Get("doc"), "|", `\|`), "$1`$2`")
		if n := len(strings.Fields(doc)); n == 0 || n > 25 {
			t.Errorf("%s.%s: its doc has %d words; say what the key means in 1 to 25", typ.Name(), f.Name, n)
		}
		key := before + name
		optional := ""
		if opts != "" {
			optional = "?"
		}
		words, inner := kindOf(f.Type)
		if at := f.Tag.Get("see"); at != "" { // keys of another document
			words, inner = fmt.Sprintf("[%s](documents.md#%s)", strings.ReplaceAll(at, "json", ".json"), at), nil
		}
		fmt.Fprintf(b, "| `%s`%s | %s | %s |\n", key, optional, words, doc)
		if inner != nil {
			suffix := "."
			switch {
			case strings.HasPrefix(words, "list"):
				suffix = "[]."
			case strings.HasSuffix(words, "by name"):
				suffix = ".NAME."
			}
			addKeys(t, b, key+suffix, inner, inPart)
		}
	}
}

// quoted finds what is set as code: a tag of a struct has no place for its marks.
var quoted = regexp.MustCompile(`(^|[\s(])'([^']+)'`)

func fields(typ reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range typ.NumField() {
			if !yield(typ.Field(i)) {
				return
			}
		}
	}
}

// kindOf says what a value is; inner is the type whose keys follow.
func kindOf(typ reflect.Type) (words string, inner reflect.Type) {
	if anchor, ok := parts[typ]; ok {
		return link(anchor), nil
	}
	switch typ {
	case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[printed.Values]():
		return "object", nil
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return kindOf(typ.Elem())
	case reflect.String:
		return "text", nil
	case reflect.Bool:
		return "true or false", nil
	case reflect.Float64:
		return "number", nil
	case reflect.Slice:
		of, inner := kindOf(typ.Elem())
		return "list of " + plural(of), inner
	case reflect.Array:
		of, inner := kindOf(typ.Elem())
		return fmt.Sprintf("list of %d %s", typ.Len(), plural(of)), inner
	case reflect.Map:
		of, inner := kindOf(typ.Elem())
		return of + " by name", inner
	case reflect.Struct:
		return "object", typ
	case reflect.Interface:
		return link("coverage"), nil
	}
	return "integer", nil
}

// link is to the heading of a part.
func link(anchor string) string {
	page := "documents.md"
	if anchor == "coverage" || anchor == "defenses" {
		page = "run-directory.md"
	}
	return fmt.Sprintf("[%s](%s#%s)", strings.ReplaceAll(anchor, "-", " "), page, anchor)
}

func plural(word string) string {
	switch {
	case strings.HasPrefix(word, "["), strings.HasPrefix(word, "list"), strings.HasSuffix(word, "s"):
		return word
	}
	return word + "s"
}

var block = regexp.MustCompile(`(?s)<!-- keys: (\w+) -->\n(.*?)<!-- end -->\n`)

// The tables of keys on the pages of docs are those of the structs.
func TestDocsGolden(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := block.ReplaceAllStringFunc(string(b), func(old string) string {
			m := block.FindStringSubmatch(old)
			typ := tables[m[1]]
			if typ == nil {
				t.Errorf("%s: there is no type %s", page, m[1])
				return old
			}
			found[m[1]] = true
			return fmt.Sprintf("<!-- keys: %s -->\n%s<!-- end -->\n", m[1], keyTable(t, typ))
		})
		testutil.Golden(t, page, []byte(text))
	}
	var lost []string
	for name := range tables {
		if !found[name] {
			lost = append(lost, name)
		}
	}
	if slices.Sort(lost); lost != nil {
		t.Errorf("on no page of docs: %s", strings.Join(lost, ", "))
	}
}
