package newimages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/newimages"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// picture is a PNG of (h, w) that differs with n.
func picture(t *testing.T, h, w, n int) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(20*n + i*(n+1)%(11+n))
	}
	img.SetGray(n%w, n%h, color.Gray{Y: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// photos writes classes of 16 x 16 pixels: the size that the tiny network takes.
func photos(t *testing.T, root string, classes, each int) {
	t.Helper()
	for k := range classes {
		for n := range each {
			put(t, root, map[string]string{fmt.Sprintf("c%d/%02d.png", k, n): picture(t, 16, 16, 10*k+n)})
		}
	}
}

func all(list *table.Table) (out []string) {
	for _, it := range list.Items {
		label := "-"
		if it.Label >= 0 {
			label = list.Classes[it.Label]
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", it.Path, label, it.Role, it.Sequence)))
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	image := picture(t, 4, 4, 1)
	put(t, root, map[string]string{
		"p/b/2.png": image, "p/b/1.JPG": image, "p/a/deep/x.jpeg": image, "p/top.png": image, "p/a/._x.png": image, "p/a/notes.md": "", "p/__MACOSX/a.png": image,
		"list.txt": "\ufeffp/b/2.png\r\n\n  p/top.png\n",
		"list.csv": "sequence,label,path,other\ns1,cat,p/top.png,\n,,p/b/2.png,x\n",
	})
	if err := os.Symlink(filepath.Join(root, "p", "b"), filepath.Join(root, "p", "linked")); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(root, n))
		}
		return out
	}
	for name, c := range map[string]struct {
		paths []string
		o     newimages.ListOptions
		want  []string
	}{
		"folder": {in("p"), newimages.ListOptions{Labels: true, Role: table.Test}, []string{
			"a/deep/x.jpeg deep query+gallery", "b/1.JPG b query+gallery", "b/2.png b query+gallery", "linked/1.JPG linked query+gallery", "linked/2.png linked query+gallery", "top.png - query+gallery",
		}},
		"no labels": {in("p/b"), newimages.ListOptions{Role: table.Query}, []string{"1.JPG - query", "2.png - query"}},
		"text":      {in("list.txt"), newimages.ListOptions{Role: table.Gallery, Labels: true}, []string{"p/b/2.png - gallery", "p/top.png - gallery"}},
		"table":     {in("list.csv"), newimages.ListOptions{Role: table.Test}, []string{"p/top.png cat query+gallery s1", "p/b/2.png - query+gallery"}},
		"files":     {in("p/top.png", "p/b"), newimages.ListOptions{Role: table.Test, Labels: true}, []string{root + "/p/top.png - query+gallery", root + "/p/b/1.JPG - query+gallery", root + "/p/b/2.png - query+gallery"}},
	} {
		got, err := newimages.List(c.paths, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(all(got), c.want) {
			t.Errorf("%s: %q, want %q", name, all(got), c.want)
		}
	}
	put(t, root, map[string]string{
		"gone.txt": "p/top.png\np/none.png\n", "bad.csv": "file\np/top.png\n", "empty.csv": "path,label\np/top.png,a\n,b\n", "odd.csv": "path\n\"a\n", "none/x.md": "",
		"oml.csv": "label,path,is_query,is_gallery\n1,p/top.png,,\n", "boxes.csv": "path,x_1,y_1,x_2,y_2\np/top.png,0,0,2,2\n",
	})
	for want, paths := range map[string][]string{
		"1 of 2 images were not found in": in("gone.txt"),
		"no column path":                  in("bad.csv"),
		":3: no path":                     in("empty.csv"),
		"odd.csv":                         in("odd.csv"),
		"no column split":                 in("oml.csv"),
		"no column label":                 in("boxes.csv"),
		"no PNG or JPEG images":           in("none"),
		"no such images":                  in("nowhere"),
		"neither a folder, nor a list":    in("p/a/notes.md"),
	} {
		if _, err := newimages.List(paths, newimages.ListOptions{Role: table.Test}); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.ErrMissing) && !errors.Is(err, fault.ErrFormat) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The embeddings of the files of a run's test set are those of the test set, whatever else
// is with them; broken files have no row; and a second embedding does nothing.
func TestEmbedFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	photos(t, filepath.Join(root, "photos"), 8, 6)
	r := runtest.Trained(t, root, "data={name: folder, root: "+filepath.Join(root, "photos")+", split: {kind: class, train: 0.5}}", "train.epochs=1", "batch={sampler: class-pairs-distinct, pairs: 4}")
	ctx := context.Background()
	e, err := r.Embed(ctx, "last", "test", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	n, err := newimages.FromRun(r, "last")
	if err != nil {
		t.Fatal(err)
	}
	im, err := n.Split(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if files := im.Files(); files != nil { // they are in memory: the fingerprint is of the pixels
		t.Errorf("files %v", files)
	}
	dir := filepath.Join(root, "split")
	if _, _, err := n.Embed(ctx, im, newimages.Options{Dir: dir}, tinytest.Quiet); err != nil {
		t.Fatal(err)
	}
	f, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.X, e.Vectors.Data) || f.Classes[f.Labels[0]] != e.Data.Classes()[e.Data.Labels()[0]] || f.Items[0].Role != table.Test {
		t.Errorf("%d rows of the split differ from those of the run; the first: %+v", f.N, f.Items[0])
	}

	put(t, root, map[string]string{"photos/c0/00x.png": picture(t, 16, 16, 3)[:60], "photos/c0/wide.png": picture(t, 30, 50, 3)})
	if n, err = newimages.FromWeights(r.Last()); err != nil { // images of its size need no resize
		t.Fatal(err)
	}
	list, err := newimages.List([]string{filepath.Join(root, "photos")}, newimages.ListOptions{Labels: true, Role: table.Test})
	if err != nil {
		t.Fatal(err)
	}
	if im, err = n.Images(list); err != nil {
		t.Fatal(err)
	}
	o := newimages.Options{Dir: filepath.Join(root, "files"), Batch: 5}
	doc, done, err := n.Embed(ctx, im, o, tinytest.Quiet)
	if err != nil || done {
		t.Fatal(done, err)
	}
	if len(doc.Broken) != 1 || doc.Broken[0].Path != "c0/00x.png" || doc.Source.Items != 49 || doc.Source.Classes != 8 {
		t.Errorf("%+v", doc)
	}
	if f, err = store.Read(o.Dir); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, it := range f.Items {
		at[it.Path] = i
	}
	if w := f.Items[at["c0/wide.png"]]; w.Width != 50 || w.Height != 30 {
		t.Errorf("%+v", w)
	}
	split, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range split.Items {
		path, err := filepath.Rel(filepath.Join(root, "photos"), it.Path)
		if err != nil {
			t.Fatal(err)
		}
		j := at[path]
		if !slices.Equal(split.X[i*f.D:(i+1)*f.D], f.X[j*f.D:(j+1)*f.D]) {
			t.Errorf("%s differs", path)
		}
	}
	if doc, done, err = n.Embed(ctx, im, o, tinytest.Quiet); err != nil || !done || doc.Source.Items != 49 {
		t.Errorf("again: %v, %v", done, err)
	}
	// Another image of the same size, written at the same time; the same one at another time.
	path := filepath.Join(root, "photos/c3/02.png")
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(was)
	other[len(other)/2]++
	for _, c := range []struct {
		text []byte
		time time.Time
		same bool
	}{{other, info.ModTime(), false}, {was, info.ModTime().Add(time.Second), false}, {was, info.ModTime(), true}} {
		if err := os.WriteFile(path, c.text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, c.time, c.time); err != nil {
			t.Fatal(err)
		}
		if _, done, err := n.Embed(ctx, im, o, tinytest.Quiet); done != c.same || errors.Is(err, store.ErrOther) == c.same {
			t.Errorf("%v at %v: %v, %v", len(c.text), c.time, done, err)
		}
	}
	o.Batch = 4
	if _, _, err = n.Embed(ctx, im, o, tinytest.Quiet); !errors.Is(err, store.ErrOther) {
		t.Errorf("another batch: %v", err)
	}
	o.Replace = true
	if _, _, err = n.Embed(ctx, im, o, tinytest.Quiet); err != nil {
		t.Errorf("replaced: %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err = n.Embed(stopped, im, newimages.Options{Dir: filepath.Join(root, "stopped")}, tinytest.Quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	again, err := newimages.Again(t.Context(), doc)
	if err != nil || again.About.SHA256 != n.About.SHA256 {
		t.Errorf("again: %v", err)
	}
	doc.Network.SHA256 = "other"
	if _, err := newimages.Again(t.Context(), doc); !errors.Is(err, fault.ErrUnfit) {
		t.Errorf("other weights: %v", err)
	}
}

// A run with a transform embeds new images by its steps: as its own test set.
func TestEmbedByTransform(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for k := range 6 {
		for n := range 4 {
			put(t, root, map[string]string{fmt.Sprintf("photos/c%d/%d.png", k, n): picture(t, 20+n, 30-k, 10*k+n)})
		}
	}
	r := runtest.Fitted(t, root, "name: steps\nmodel: {name: cnn, width: 4, embedding: 8}\nbatch: {sampler: class-pairs-distinct, pairs: 3}\ntrain: {epochs: 1}\neval: {bootstrap: 0}\n",
		"data={name: folder, root: "+filepath.Join(root, "photos")+", color: rgb, split: {kind: class, train: 0.5}, transform: {test: [Resize(18), CenterCrop(16)]}}")
	e, err := r.Embed(context.Background(), "last", "test", 0, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	n, err := newimages.FromRun(r, "last")
	if err != nil {
		t.Fatal(err)
	}
	list, err := newimages.List([]string{filepath.Join(root, "photos")}, newimages.ListOptions{Labels: true, Role: table.Test})
	if err != nil {
		t.Fatal(err)
	}
	im, err := n.Images(list)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "out")
	doc, _, err := n.Embed(context.Background(), im, newimages.Options{Dir: dir}, tinytest.Quiet)
	if err != nil || !strings.Contains(doc.Network.Transform, "CenterCrop") {
		t.Fatal(doc, err)
	}
	f, err := store.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, it := range f.Items {
		for j, label := range e.Data.Labels() {
			if name := e.Data.(interface{ ItemName(int) string }).ItemName(j); strings.HasSuffix(name, filepath.Join("photos", it.Path)) && e.Data.Classes()[label] == it.Label {
				found++
				if !slices.Equal(f.X[i*f.D:(i+1)*f.D], e.Vectors.Row(j)) {
					t.Errorf("%s differs", it.Path)
				}
			}
		}
	}
	if found != e.Data.Len() || found == 0 {
		t.Errorf("%d of %d images of the run's test set", found, e.Data.Len())
	}
	own, err := n.Split(t.Context(), "test")
	if err != nil || len(own.Files()) != own.Len() || len(im.Files()) != im.Len() {
		t.Errorf("%d files of %d images: %v", len(own.Files()), own.Len(), err)
	}
}
