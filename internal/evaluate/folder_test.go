package evaluate

import (
	"context"
	"testing"

	"tercet/internal/data/npy"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
)

// Of a folder of embeddings, queries are searched for in the gallery alone, without the
// images of their sequence. By other queries, or by its sequence, each would be wrong.
func TestRolesOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := store.Begin(dir, "job", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	items := []store.Item{
		{Path: "0", Label: "a", Role: table.Query, Sequence: "s"},
		{Path: "1", Label: "b", Role: table.Query},
		{Path: "2", Label: "b", Role: table.Gallery, Sequence: "s"},
		{Path: "3", Label: "a", Role: table.Gallery},
		{Path: "4", Label: "b", Role: table.Gallery},
	}
	if err := w.Add(len(items), []float32{0, 8, 0.5, 2, 9.5}, make([][2]int, len(items)), nil); err != nil {
		t.Fatal(err)
	}
	doc := &record.Embed{Schema: record.EmbedSchema, Network: record.EmbedNetwork{Dim: 1}, Job: "job", Format: "f32"}
	if err := w.Finish(items, doc, store.Layout{}); err != nil {
		t.Fatal(err)
	}
	e, err := Files(context.Background(), dir, npy.LabelFile{}, record.EvalOptions{Ks: []int{1, 2, 3}, Distance: "euclidean"}, nil, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := e.Doc.Retrieval.Get("recall@1"); got.Value != 1 || e.Doc.Searched != 2 || e.Doc.Gallery != 3 {
		t.Errorf("recall@1 %v of %d queries, %d in the gallery; want 1 of 2, 3", got.Value, e.Doc.Searched, e.Doc.Gallery)
	}
	if w := e.Doc.Warnings; len(w) != 1 || w[0] != "recall@3 is 1 by definition: each query has only 3 other items" {
		t.Errorf("%q", w)
	}
}
