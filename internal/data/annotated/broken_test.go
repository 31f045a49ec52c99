package annotated_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/annotated"
	"tercet/internal/data/datatest"
	"tercet/internal/data/sources"
	"tercet/internal/data/table"
	"tercet/internal/imaging/transform"
)

// With Broken, image files that cannot be decoded are left out and listed, by either decoder;
// a query whose gallery is gone goes with it. Without it they are an error. Files that are
// not there stay one.
func TestBrokenImagesAreLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Images: true, Classes: []datatest.Class{
		{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 2, Gallery: 1}, {ID: 4, Query: 2, Gallery: 2},
	}}
	tree.InShop()
	source := annotated.InShopOptions{Root: dir, Partial: true, Images: "img"}
	tab, err := annotated.Files(source)
	if err != nil {
		t.Fatal(err)
	}
	// The first image to train on is cut off, and the gallery of the first class of the test is
	// no image.
	var torn, other string
	for i := range tab.Items {
		switch it := &tab.Items[i]; {
		case it.Is(table.Train) && torn == "":
			torn = tab.File(i)
		case it.Is(table.Gallery) && other == "":
			other = tab.File(i)
		}
	}
	b, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{torn: string(b[:len(b)/2]), other: "no image"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := transform.Parse([]string{"Resize((8, 8))"})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]data.Options{"in memory": {Size: 8}, "decoded when needed": {Transform: &data.Steps{Test: steps}}} {
		o.Source = source
		train, test, err := data.Open(t.Context(), o)
		if err == nil {
			buf := make([]float32, 8*8*3)
			for _, ds := range []data.Dataset{train, test} {
				for i := range ds.Len() {
					err = errors.Join(err, ds.Read(i, buf))
				}
			}
		}
		if !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), filepath.Base(torn)) {
			t.Errorf("%s, not asked for: %v", name, err)
		}
		o.Broken = &data.Broken{}
		if train, test, err = data.Open(t.Context(), o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if train.Len() != 4 || test.Len() != 4 || len(test.Classes()) != 1 || len(o.Broken.Images) != 2 || o.Broken.Images[0].Path != torn || o.Broken.Images[1].Path != other {
			t.Errorf("%s: %d and %d images, classes %v; left out %+v", name, train.Len(), test.Len(), test.Classes(), o.Broken.Images)
		}
		if s := o.Broken.String(); !strings.HasPrefix(s, "2 of the images cannot be read and were left out: ") || !strings.Contains(s, torn) {
			t.Errorf("%s: %s", name, s)
		}
		buf := make([]float32, 8*8*3)
		for _, ds := range []data.Dataset{train, test} {
			for i := range ds.Len() {
				if err := ds.Read(i, buf); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	if _, _, err := data.Open(t.Context(), data.Options{Source: sources.GlyphsOptions{}, Broken: &data.Broken{}}); err == nil || !strings.Contains(err.Error(), "no image files that could be broken") {
		t.Error(err)
	}
}
