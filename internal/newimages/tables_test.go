package newimages_test

import (
	"context"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/table"
	"tercet/internal/embed"
	"tercet/internal/embed/store"
	"tercet/internal/newimages"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// A dataset's table gives roles, boxes, sequences and categories, and the items.csv that embed
// writes of it gives the same again. The embedding of a box is that of a file that holds
// the box alone.
func TestEmbedATable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	photos(t, filepath.Join(root, "photos"), 8, 4)
	r := runtest.Trained(t, root, "data={name: folder, root: "+filepath.Join(root, "photos")+", split: {kind: class, train: 0.5}}", "train={steps: 1, epochs: 0}", "batch={sampler: class-pairs-distinct, pairs: 4}")
	n, err := newimages.FromRun(r, "last")
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, map[string]string{
		"t/wide.png": picture(t, 24, 40, 5), "t/b.png": picture(t, 16, 16, 7), "t/c.png": picture(t, 16, 16, 9), "t/d.png": picture(t, 16, 16, 11), "t/e.png": picture(t, 16, 16, 13),
		"t/data.csv": strings.ReplaceAll(`label,path,split,is_query,is_gallery,category,sequence,x_1,y_1,x_2,y_2
			9,e.png,train,,,,,,,,
			3,wide.png,validation,True,False,bags,,3,5,19,21
			3,b.png,validation,False,True,bags,,,,,
			4,c.png,validation,True,True,shoes,s1,,,,
			4,d.png,validation,False,True,shoes,,,,,
			`, "\t", ""),
	})
	from, err := os.Open(filepath.Join(root, "t/wide.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	whole, err := png.Decode(from)
	if err != nil {
		t.Fatal(err)
	}
	part := image.NewGray(image.Rect(0, 0, 16, 16))
	draw.Draw(part, part.Bounds(), whole, image.Pt(3, 5), draw.Src)
	to, err := os.Create(filepath.Join(root, "t/part.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(to, part); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	folder := func(name string, notes int, lists ...string) *store.Folder {
		t.Helper()
		list, err := newimages.List(lists, newimages.ListOptions{Role: table.Test})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Notes) != notes {
			t.Errorf("%s: notes %q", name, list.Notes)
		}
		im, err := n.Images(list)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, name)
		if _, _, err := n.Embed(context.Background(), im, newimages.Options{Dir: dir}, tinytest.Quiet); err != nil {
			t.Fatal(err)
		}
		f, err := store.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := folder("first", 1, filepath.Join(root, "t/data.csv"))
	want := []store.Item{
		{Path: "wide.png", Label: "3", Role: table.Query, Category: "bags", Box: image.Rect(3, 5, 19, 21), Width: 40, Height: 24},
		{Path: "b.png", Label: "3", Role: table.Gallery, Category: "bags", Width: 16, Height: 16},
		{Path: "c.png", Label: "4", Role: table.Test, Category: "shoes", Sequence: "s1", Width: 16, Height: 16},
		{Path: "d.png", Label: "4", Role: table.Gallery, Category: "shoes", Width: 16, Height: 16},
	}
	if !slices.Equal(first.Items, want) {
		t.Errorf("items %+v, want %+v", first.Items, want)
	}
	alone := folder("alone", 0, filepath.Join(root, "t/part.png"))
	if !slices.Equal(alone.X, first.X[:first.D]) {
		t.Error("the embedding of a box is not that of its pixels")
	}
	again := folder("again", 0, filepath.Join(root, "first/items.csv"))
	if !slices.Equal(again.X, first.X) || !slices.Equal(again.Items, want) {
		t.Errorf("of items.csv: %+v", again.Items)
	}
	both := folder("both", 0, filepath.Join(root, "first/items.csv"), filepath.Join(root, "t/part.png"))
	if both.N != 5 || !slices.Equal(both.X[:len(first.X)], first.X) || both.Place(0) != first.Place(0) || both.Items[0].Box != want[0].Box {
		t.Errorf("with another image: %+v", both.Items)
	}
	if roles, err := embed.ReadRoles(filepath.Join(root, "again")); err != nil || !slices.Equal(roles.Query, []int{0, 2}) || !slices.Equal(roles.Gallery, []int{1, 2, 3}) {
		t.Errorf("%+v, %v", roles, err)
	}
	put(t, root, map[string]string{"lone/items.csv": "row,path,label,role,sequence,box,width,height\n0,b.png,3,query,,,16,16\n"})
	if _, err := newimages.List([]string{filepath.Join(root, "lone/items.csv")}, newimages.ListOptions{}); err == nil || !strings.Contains(err.Error(), "embed.json names") {
		t.Error(err)
	}
	if list, err := newimages.List([]string{filepath.Join(root, "lone/items.csv")}, newimages.ListOptions{Root: filepath.Join(root, "t")}); err != nil || list.Items[0].Role != table.Query {
		t.Error(err)
	}
}

// A split has the size of its images in their files, though they are resized.
func TestSizesOfASplit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for k := range 6 {
		for n := range 3 {
			put(t, root, map[string]string{filepath.Join("photos", string(rune('a'+k)), string(rune('0'+n))+".png"): picture(t, 20+n, 30-k, 10*k+n)})
		}
	}
	r := runtest.Fitted(t, root, "name: sizes\nmodel: {name: cnn, width: 4, embedding: 8}\nbatch: {sampler: class-pairs-distinct, pairs: 2}\ntrain: {steps: 1, eval_samples: 0}\n",
		"data={name: folder, root: "+filepath.Join(root, "photos")+", size: 16, split: {kind: class, train: 0.5}}")
	n, err := newimages.FromRun(r, "last")
	if err != nil {
		t.Fatal(err)
	}
	im, err := n.Split(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "split")
	if _, _, err := n.Embed(context.Background(), im, newimages.Options{Dir: dir}, tinytest.Quiet); err != nil {
		t.Fatal(err)
	}
	f, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range f.Items {
		w, h, err := data.ImageSize(f.Place(i))
		if err != nil || it.Width != w || it.Height != h || w == 16 {
			t.Errorf("%s: %d x %d, want %d x %d (%v)", it.Path, it.Width, it.Height, w, h, err)
		}
	}
}
