package evaluate

import (
	"context"
	"math"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/datatest"
	"tercet/internal/data/table"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

const inshopRun = `
name: roles
data:
  name: inshop
  partial: true
  transform: {test: ["Resize((16, 16))"]}
model: {name: cnn, embedding: 4}
batch: {sampler: class-pairs, pairs: 2}
train: {steps: 1, eval_samples: 0}
eval: {ks: [1], baselines: true}
`

// Of In-Shop, training images are trained on, and queries are searched for in the gallery
// alone, by the network and the baselines.
func TestQueriesAgainstTheGallery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Images: true, Classes: []datatest.Class{
		{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 3, Gallery: 1}, {ID: 4, Query: 2, Gallery: 2}, {ID: 5, Query: 1, Gallery: 2},
	}}
	tree.InShop()
	r := runtest.Fitted(t, t.TempDir(), inshopRun, "data.root="+dir)
	o := Defaults(r.Config)
	o.KMeans, o.PerQuery = false, true
	e, err := Eval(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if d := e.Doc; d.Searched != 6 || d.Gallery != 5 || d.Queries() != 6 || d.Baselines["pixels"].Gallery != 5 || d.Source.Items != 11 {
		t.Errorf("%d queries, %d in the gallery of %d items; %+v", d.Searched, d.Gallery, d.Source.Items, d.Baselines["pixels"])
	}
	ds, x := e.Embedded.Data, e.Embedded.Vectors
	hits, queries := 0.0, 0.0
	for q := range ds.Len() {
		if !data.TableItem(ds, q).Is(table.Query) {
			continue
		}
		best, at := math.Inf(1), -1
		for g := range ds.Len() {
			sum := 0.0
			for k := range x.Cols() {
				sum += math.Pow(float64(x.Data[q*x.Cols()+k])-float64(x.Data[g*x.Cols()+k]), 2)
			}
			if data.TableItem(ds, g).Is(table.Gallery) && sum < best {
				best, at = sum, g
			}
		}
		queries++
		if ds.Labels()[at] == ds.Labels()[q] {
			hits++
		}
	}
	if got, _ := e.Doc.Retrieval.Get("recall@1"); math.Abs(got.Value-hits/queries) > 1e-12 {
		t.Errorf("recall@1 %v, want %v", got.Value, hits/queries)
	}
}
