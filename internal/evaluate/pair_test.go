package evaluate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/run/tinytest"
)

// storedFolder writes a folder of 4-D embeddings by the network with some weights.
func storedFolder(t *testing.T, weights string, items []store.Item, x []float32) string {
	t.Helper()
	dir := t.TempDir()
	w, err := store.Begin(dir, "job", 4, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(len(items), x, make([][2]int, len(items)), nil); err != nil {
		t.Fatal(err)
	}
	doc := &record.Embed{Schema: record.EmbedSchema, Network: record.EmbedNetwork{Dim: 4, SHA256: weights}, Job: "job", Format: "f32"}
	if err := w.Finish(items, doc, store.Layout{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Two folders, of queries and of a gallery, have the scores of one folder whose images have
// these roles: by class name though the folders number classes differently, without images
// of the query's sequence, and without the query itself, which is in both folders as image 5.
func TestTwoFoldersAreOneWithRoles(t *testing.T) {
	t.Parallel()
	names := "cabbacbcabcacbbacaba"
	r := rng.New(1, "pairs")
	var whole, gallery, queries []store.Item
	var x, gx, qx []float32
	for i, label := range names {
		z := []float32{float32(r.NormFloat64()) + float32(label-'a'), float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())}
		it := store.Item{Path: "/images/" + string(rune('A'+i)), Label: string(label), Role: table.Gallery}
		if i%4 == 1 || i%4 == 2 {
			it.Sequence = string(rune('0' + i%8))
		}
		if i%3 == 2 {
			it.Role = table.Query
		}
		if i == 5 {
			it.Role = table.Query | table.Gallery
		}
		whole, x = append(whole, it), append(x, z...)
		if it.Role&table.Query != 0 {
			queries, qx = append(queries, it), append(qx, z...)
		}
		if it.Role&table.Gallery != 0 {
			gallery, gx = append(gallery, it), append(gx, z...)
		}
	}
	for i := range queries {
		queries[i].Role = table.Query | table.Gallery // not what they are taken for
	}
	o := record.EvalOptions{Ks: []int{1, 2, 4}, Distance: "euclidean", PerClass: true}
	want, err := Files(context.Background(), storedFolder(t, "w", whole, x), npy.LabelFile{}, o, nil, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	g := storedFolder(t, "w", gallery, gx)
	got, err := Folders(context.Background(), g, storedFolder(t, "w", queries, qx), o, nil, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got.Doc.Searched != len(queries) || got.Doc.Gallery != len(gallery) || got.Doc.Source.Items != len(names) {
		t.Errorf("%d queries in %d images, %d in all; want %d, %d, %d", got.Doc.Searched, got.Doc.Gallery, got.Doc.Source.Items, len(queries), len(gallery), len(names))
	}
	if len(want.Doc.Retrieval) < 5 || len(got.Doc.Retrieval) != len(want.Doc.Retrieval) {
		t.Fatalf("%d scores, want %d", len(got.Doc.Retrieval), len(want.Doc.Retrieval))
	}
	for _, s := range want.Doc.Retrieval {
		if v, ok := got.Doc.Retrieval.Get(s.Key); !ok || v.Value != s.Value.Value {
			t.Errorf("%s is %v, want %v", s.Key, v.Value, s.Value.Value)
		}
	}
	if r1, _ := want.Doc.Retrieval.Get("recall@1"); r1.Value == 0 || r1.Value == 1 {
		t.Errorf("recall@1 is %v: these embeddings show nothing", r1.Value)
	}
	_, err = Folders(context.Background(), g, storedFolder(t, "other", queries, qx), o, nil, tinytest.Quiet)
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "not of one network") {
		t.Errorf("other weights: %v", err)
	}
	queries[1].Label = ""
	_, err = Folders(context.Background(), g, storedFolder(t, "w", queries, qx), o, nil, tinytest.Quiet)
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a query without a label: %v", err)
	}
}
