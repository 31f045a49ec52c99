package data

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tercet/internal/data/table"
	"tercet/internal/imaging"
	"tercet/internal/imaging/shard"
	"tercet/internal/testutil"
)

// Packed images give the pixels of a Resize of the same size as first step, and a file of
// other images, of changed ones or of another version is refused.
func TestPacked(t *testing.T) {
	t.Parallel()
	root := testutil.Tree(t, photos(t, 3))
	file := filepath.Join(t.TempDir(), "p.tshard")
	source := FolderOptions{Root: root, Train: "train", Test: "test"}
	pack := func(p shard.Params) {
		t.Helper()
		reached := 0
		head, err := Pack(context.Background(), Options{Source: source, Split: Split{Kind: "none"}}, file, p, func(done, total int) { reached = done * 100 / total })
		if err != nil || head.Images != 12 || reached != 100 {
			t.Fatalf("%+v, %d %%, %v", head, reached, err)
		}
	}
	open := func(root, test string) (Dataset, error) {
		o := Options{Source: FolderOptions{Root: root, Train: "train", Test: "test"}, Transform: steps(t, "", test), Packed: file, Split: Split{Kind: "none"}}
		ds, _, err := Open(t.Context(), o)
		return ds, err
	}
	for fit, resize := range map[string]string{"short": "Resize(18, bicubic)", "squash": "Resize((18, 18), bicubic)"} {
		pack(shard.Params{Fit: fit, Size: 18, Interpolation: "bicubic"})
		ds, err := open(root, "CenterCrop(16)")
		if err != nil {
			t.Fatal(err)
		}
		plain := openDecoded(t, root, steps(t, "", resize+";CenterCrop(16)"), "")
		x, y := make([]float32, 16*16*3), make([]float32, 16*16*3)
		// A network of packed images sees other images as it saw these.
		list := &table.Table{Items: make([]table.Item, ds.Len())}
		for i := range list.Items {
			list.Items[i].Path = ds.(Namer).ItemName(i)
		}
		other, err := NewUnseen(list, Options{Transform: steps(t, "", "CenterCrop(16)"), Packed: file}, 16, 16, 3)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float32, len(x))
		for i := range ds.Len() {
			if _, _, err := other.Read(i, z); err != nil || ds.Read(i, x) != nil || !slices.Equal(x, z) {
				t.Fatalf("%s: item %d has other pixels as a file of its own: %v", fit, i, err)
			}
			if ds.Read(i, x) != nil || plain.Read(i, y) != nil || !slices.Equal(x, y) {
				t.Fatalf("%s: item %d has other pixels", fit, i)
			}
		}
		if testutil.Fingerprint(t, ds) == testutil.Fingerprint(t, openDecoded(t, root, steps(t, "", "CenterCrop(16)"), "")) {
			t.Error("packed images have the fingerprint of the originals")
		}
		p, err := Pixels(Options{Transform: steps(t, "", resize), Packed: file})
		if err != nil || p.From[:len("packed "+fit+" 18 bicubic, SHA-256 ")] != "packed "+fit+" 18 bicubic, SHA-256 " {
			t.Errorf("%+v, %v", p, err)
		}
	}

	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(whole)
	damaged[4096+5]++ // of the first image
	if err := os.WriteFile(file, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	ds, err := open(root, "CenterCrop(16)")
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for i := range ds.Len() {
		if err := ds.Read(i, make([]float32, 16*16*3)); err != nil {
			testutil.WantError(t, err, ErrFormat, file, "have changed since it was written", "packed image of")
			lost++
		}
	}
	if lost != 1 {
		t.Errorf("%d images are damaged", lost)
	}
	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}

	_, err = open(testutil.Tree(t, photos(t, 2)), "CenterCrop(16)")
	testutil.WantError(t, err, ErrFormat, "is not of these images: 8 of 8")
	changed := filepath.Join(root, "c1", "2.jpg")
	if err := os.Chtimes(changed, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	_, err = open(root, "CenterCrop(16)")
	testutil.WantError(t, err, ErrFormat, "1 of 12", changed, "pack them again")
	if err := os.WriteFile(changed, photo(t, 30, 30, 1)[:600], 0o644); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(file)
	_, err = Pack(context.Background(), Options{Source: source, Split: Split{Kind: "none"}}, file, shard.Params{Fit: "short", Size: 18, Interpolation: "bilinear"}, func(int, int) {})
	testutil.WantError(t, err, ErrFormat, changed)
	if after, _ := os.ReadFile(file); !slices.Equal(before, after) {
		t.Error("a failed packing has replaced the file")
	}
	if err := os.Truncate(file, int64(len(before)/2)); err != nil {
		t.Fatal(err)
	}
	_, err = open(root, "CenterCrop(16)")
	testutil.WantError(t, err, ErrFormat, file, "cut off")
	w, err := shard.Create(file, shard.Params{Fit: "short", Size: 18, Decoder: "another", Resize: imaging.ResizeVersion})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = open(root, "CenterCrop(16)")
	testutil.WantError(t, err, ErrFormat, `decoder "another"`)
	_, _, err = Open(t.Context(), Options{Source: FolderOptions{Root: root}, Transform: steps(t, "", "CenterCrop(16)"), Packed: file + "x", Split: Split{Kind: "none"}})
	testutil.WantError(t, err, ErrMissing, file+"x")
	if _, err := (Options{Transform: steps(t, "", "CenterCrop(16)"), Packed: file}).transformed(toy(t, 20, 20, 3, 2, 2)); err == nil {
		t.Error("images in memory are not packed")
	}
	_, err = Pack(context.Background(), Options{Source: inMemory{toy(t, 20, 20, 3, 2, 2)}}, file, shard.Params{Fit: "short", Size: 18, Interpolation: "bilinear"}, func(int, int) {})
	if err == nil {
		t.Error("images in memory were packed")
	}
}

// inMemory is a source without files.
type inMemory struct{ all *Memory }

func (s inMemory) Open(context.Context, Options) (train, test Dataset, err error) {
	return s.all, nil, nil
}

func (inMemory) Traits() Traits { return Traits{} }
