package evaluate

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/datatest"
	"tercet/internal/data/table"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// The scores of classes, in the document, in csv and in json: recall@1 and MAP@R of each
// query by loops over the gallery, averaged over the queries of its class.
func TestScoresOfClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Images: true, Classes: []datatest.Class{
		{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 3, Gallery: 3}, {ID: 4, Query: 2, Gallery: 2}, {ID: 5, Gallery: 2},
	}}
	tree.InShop()
	r := runtest.Fitted(t, t.TempDir(), inshopRun, "data.root="+dir)
	o := Defaults(r.Config)
	o.KMeans, o.Baselines, o.PerClass = false, false, true
	e, err := Eval(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	ds, x := e.Embedded.Data, e.Embedded.Vectors
	type sums struct{ images, queries, recall, mapR float64 }
	want := map[string]*sums{}
	for q := range ds.Len() {
		name := ds.Classes()[ds.Labels()[q]]
		if want[name] == nil {
			want[name] = &sums{}
		}
		want[name].images++
		if !data.TableItem(ds, q).Is(table.Query) {
			continue
		}
		recall, mapR := plainScores(ds, x.Data, x.Cols(), q)
		want[name].queries++
		want[name].recall += recall
		want[name].mapR += mapR
	}
	check := func(from, class string, images, queries, recall, mapR float64) {
		t.Helper()
		w := want[class]
		if w == nil || images != w.images || queries != w.queries || w.queries > 0 && (math.Abs(recall-w.recall/w.queries) > 1e-12 || math.Abs(mapR-w.mapR/w.queries) > 1e-12) {
			t.Errorf("%s: %s has %v images, %v queries, recall@1 %v, MAP@R %v; want %+v", from, class, images, queries, recall, mapR, w)
		}
	}
	if len(e.Doc.Classes) != 3 {
		t.Fatalf("%+v", e.Doc.Classes)
	}
	for _, c := range e.Doc.Classes {
		check("document", c.Class, float64(c.Images), float64(c.Queries), c.Scores["recall@1"], c.Scores["map@r"])
	}
	csvFile, jsonFile := filepath.Join(dir, "c.csv"), filepath.Join(dir, "c.json")
	for _, path := range []string{csvFile, jsonFile} {
		if err := e.WriteClasses(path); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(csvFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatal(rows, err)
	}
	at := map[string]int{}
	for k, name := range rows[0] {
		at[name] = k
	}
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	for _, row := range rows[1:] {
		check("csv", row[0], number(row[1]), number(row[2]), number(row[at["recall@1"]]), number(row[at["map@r"]]))
	}
	b, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []record.ClassScores
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 3 {
		t.Error(string(b), err)
	}
	o.PerClass = false
	if lost := (record.Eval{Options: o}).Covers(*e.Doc); len(lost) != 1 || lost[0] != "the scores of each class" {
		t.Errorf("a result without them covers one with them: %q", lost)
	}
}

// plainScores are recall@1 and MAP@R of a query among the gallery.
func plainScores(ds data.Dataset, x []float32, dim, q int) (recall, mapR float64) {
	far := func(g int) (sum float64) {
		for k := range dim {
			sum += math.Pow(float64(x[q*dim+k])-float64(x[g*dim+k]), 2)
		}
		return sum
	}
	relevant := 0
	var gallery []int
	for g := range ds.Len() {
		if data.TableItem(ds, g).Is(table.Gallery) {
			gallery = append(gallery, g)
			if ds.Labels()[g] == ds.Labels()[q] {
				relevant++
			}
		}
	}
	for _, g := range gallery {
		if ds.Labels()[g] != ds.Labels()[q] {
			continue
		}
		rank, hits := 1, 1.
		for _, j := range gallery {
			if far(j) < far(g) || far(j) == far(g) && j < g {
				rank++
				if ds.Labels()[j] == ds.Labels()[q] {
					hits++
				}
			}
		}
		if rank == 1 {
			recall = 1
		}
		if rank <= relevant {
			mapR += hits / float64(rank) / float64(relevant)
		}
	}
	return recall, mapR
}
