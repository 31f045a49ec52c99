package data

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/imaging"
	"tercet/internal/imaging/transform"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

func steps(t testing.TB, train, test string) *Steps {
	t.Helper()
	parse := func(list string) transform.Pipeline {
		if list == "" {
			return nil
		}
		p, err := transform.Parse(strings.Split(list, ";"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return &Steps{parse(train), parse(test)}
}

// photo is a JPEG of (h, w).
func photo(t testing.TB, h, w int, seed uint64) []byte {
	t.Helper()
	img, r := image.NewRGBA(image.Rect(0, 0, w, h)), rng.New(seed, "photo")
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(5 * x), uint8(7*y + int(seed)), uint8(r.IntN(40)), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// photos are n classes of 4 photos of different sizes.
func photos(t testing.TB, n int) map[string][]byte {
	files := map[string][]byte{}
	for k := range n {
		for i := range 4 {
			files["c"+strconv.Itoa(k)+"/"+strconv.Itoa(i)+".jpg"] = photo(t, 20+3*k+i, 30-2*i, uint64(10*k+i))
		}
	}
	return files
}

func openDecoded(t testing.TB, root string, s *Steps, color string) Dataset {
	t.Helper()
	ds, _, err := Open(t.Context(), Options{Source: FolderOptions{Root: root, Train: "train", Test: "test"}, Transform: s, Color: color, Split: Split{Kind: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

const evalSteps, trainSteps = "Resize(18);CenterCrop(16)", "RandomResizedCrop(16);RandomHorizontalFlip;ColorJitter(0.3)"

// Items are read as the steps of evaluation make them, from all places of a view too, and
// the training steps of a batch depend on seed, epoch, step and row alone: for any number
// of workers, and begun anywhere.
func TestDecodedImages(t *testing.T) {
	t.Parallel()
	files := photos(t, 3)
	root := testutil.Tree(t, files)
	s := steps(t, trainSteps, evalSteps)
	ds := openDecoded(t, root, s, "")
	order := make([]int, ds.Len())
	for i := range order {
		order[i] = ds.Len() - 1 - i
	}
	view, err := Subset(ds, order)
	if err != nil {
		t.Fatal(err)
	}
	show := func(i int, p transform.Pipeline, r *rng.Stream) []float32 {
		b, err := os.ReadFile(ds.(Namer).ItemName(i))
		if err != nil {
			t.Fatal(err)
		}
		var img imaging.Image
		if err := new(imaging.Decoder).Decode(&img, b); err != nil {
			t.Fatal(err)
		}
		out := p.Apply(new(transform.Canvas), img, r)
		var want []float32
		for y := range out.H {
			for _, v := range out.Row(y) {
				want = append(want, float32(v)/255)
			}
		}
		return want
	}
	x := make([]float32, 16*16*3)
	for i := range ds.Len() {
		if err := view.Read(ds.Len()-1-i, x); err != nil || !slices.Equal(x, show(i, s.Test, nil)) {
			t.Fatalf("item %d: other pixels, %v", i, err)
		}
		for _, k := range []Draw{{Seed: 5}, {77, 1, 2, 3}} {
			r := rng.New(k.Seed, "transform", uint64(k.Epoch), uint64(k.Step), uint64(k.Row))
			if err := ReadAnew(view, ds.Len()-1-i, x, k); err != nil || !slices.Equal(x, show(i, s.Train, r)) {
				t.Fatalf("item %d drawn by %+v: other pixels, %v", i, k, err)
			}
		}
	}
}

// Gray is Pillow's L of the color, and images in memory take the same steps.
func TestDecodedColors(t *testing.T) {
	t.Parallel()
	root := testutil.Tree(t, photos(t, 2))
	s := steps(t, "", evalSteps)
	rgb, gray := openDecoded(t, root, s, "rgb"), openDecoded(t, root, s, "grey")
	x, y := make([]float32, 16*16*3), make([]float32, 16*16)
	if err := rgb.Read(3, x); err != nil {
		t.Fatal(err)
	}
	if err := gray.Read(3, y); err != nil {
		t.Fatal(err)
	}
	for p, v := range y {
		l := (19595*uint32(x[3*p]*255+.5) + 38470*uint32(x[3*p+1]*255+.5) + 7471*uint32(x[3*p+2]*255+.5) + 32768) >> 16
		if v != float32(l)/255 {
			t.Fatalf("pixel %d: %v, want %d", p, v*255, l)
		}
	}
	for c, want := range map[int]int{1: 1, 3: 3} {
		m := toy(t, 20, 24, c, 3, 3)
		ds, err := Options{Transform: s}.transformed(m)
		if err != nil {
			t.Fatal(err)
		}
		h, w, got := ds.Shape()
		x := make([]float32, h*w*got)
		if err := ds.Read(1, x); err != nil || h != 16 || w != 16 || got != want {
			t.Errorf("%d channels: %dx%dx%d, %v", c, h, w, got, err)
		}
	}
	if _, err := (Options{Transform: s}).transformed(toy(t, 20, 24, 2, 3, 3)); err == nil {
		t.Error("two channels are no picture")
	}
}

// A file that ends as an image does is not decoded until it is read; fingerprints then go by names, sizes, labels and steps.
func TestDecodedFingerprint(t *testing.T) {
	t.Parallel()
	files := photos(t, 2)
	files["c0/0.jpg"] = []byte("no image at all\xff\xd9")
	print := func(files map[string][]byte, s *Steps) string {
		return testutil.Fingerprint(t, openDecoded(t, testutil.Tree(t, files), s, ""))
	}
	s := steps(t, trainSteps, evalSteps)
	want := print(files, s)
	if len(want) != 64 || print(files, s) != want || print(files, steps(t, "", evalSteps)) != want {
		t.Errorf("%s: the place of the folder or the training steps count", want)
	}
	for what, change := range map[string]func(map[string][]byte){
		"size":  func(f map[string][]byte) { f["c0/0.jpg"] = []byte("another image\xff\xd9") },
		"name":  func(f map[string][]byte) { f["c0/9.jpg"] = f["c0/0.jpg"]; delete(f, "c0/0.jpg") },
		"label": func(f map[string][]byte) { f["c1/0.jpg"], f["c1/9.jpg"] = f["c0/0.jpg"], f["c1/0.jpg"] },
	} {
		other := map[string][]byte{}
		maps.Copy(other, files)
		if change(other); print(other, s) == want {
			t.Errorf("another %s has the same fingerprint", what)
		}
	}
	if print(files, steps(t, "", "Resize(16);CenterCrop(16)")) == want {
		t.Error("other steps have the same fingerprint")
	}
}

// Files that cannot be read are errors that name them, in a loader and outside.
func TestDecodedRefuses(t *testing.T) {
	t.Parallel()
	s := steps(t, trainSteps, evalSteps)
	x := make([]float32, 16*16*3)
	for _, c := range map[string]struct {
		file []byte
		want string
	}{
		"truncated": {photo(t, 30, 30, 1)[:500], "unreadable image"},
		"text":      {[]byte("hello"), "neither JPEG nor PNG"},
		"empty":     {nil, "empty file"},
		"huge":      {bytes.Replace(photo(t, 30, 30, 1), []byte{8, 0, 30, 0, 30}, []byte{8, 255, 255, 255, 255}, 1), "65535x65535"},
	} {
		root := testutil.Tree(t, photos(t, 2))
		ds := openDecoded(t, root, s, "")
		if err := os.WriteFile(filepath.Join(root, "c0", "0.jpg"), c.file, 0o644); err != nil {
			t.Fatal(err)
		}
		testutil.WantError(t, ds.Read(0, x), ErrFormat, filepath.Join("c0", "0.jpg"), c.want)
		testutil.WantError(t, ReadAnew(ds, 0, x, Draw{}), ErrFormat, filepath.Join("c0", "0.jpg"), c.want)
	}
	root := testutil.Tree(t, photos(t, 2))
	ds := openDecoded(t, root, s, "")
	if err := os.Remove(filepath.Join(root, "c0", "0.jpg")); err != nil {
		t.Fatal(err)
	}
	testutil.WantError(t, ds.Read(0, x), ErrMissing, "0.jpg")
	if err := ds.Read(0, x[1:]); err == nil {
		t.Error("read into too little room")
	}
	for _, bad := range []*Steps{steps(t, "RandomResizedCrop(8)", evalSteps), steps(t, "", "Resize(16)")} {
		if _, _, err := Open(t.Context(), Options{Source: FolderOptions{Root: root}, Transform: bad}); err == nil {
			t.Errorf("%v: accepted", bad)
		}
	}
}

// A box is cut out of the image before the steps; one outside is an error.
func TestDecodedBoxes(t *testing.T) {
	t.Parallel()
	root := testutil.Tree(t, map[string][]byte{"a.jpg": photo(t, 40, 50, 1)})
	box := image.Rect(10, 5, 30, 35)
	from, err := newFiles(t.Context(), root, []string{"a.jpg", "a.jpg", "a.jpg"}, []image.Rectangle{box, {}, image.Rect(60, 1, 70, 9)})
	if err != nil {
		t.Fatal(err)
	}
	var e eye
	part, err := from.picture(0, &e)
	if err != nil || part.H != 30 || part.W != 20 {
		t.Fatalf("%dx%d, %v", part.H, part.W, err)
	}
	first := slices.Clone(part.Row(0))
	whole, err := from.picture(1, &e)
	if err != nil || whole.H != 40 || !slices.Equal(first, whole.Row(5)[30:90]) {
		t.Errorf("other pixels, %v", err)
	}
	_, err = from.picture(2, &e)
	testutil.WantError(t, err, ErrFormat, "a.jpg", "lies outside")
	if from.identity(0) == from.identity(1) {
		t.Error("boxes do not count")
	}
	_, err = newFiles(t.Context(), root, []string{"a.jpg", "b.jpg", "c.jpg"}, nil)
	testutil.WantError(t, err, ErrMissing, "b.jpg", "c.jpg")
}

// A file that is cut off is refused before any image is used; one with more bytes after its
// end is read.
func TestFilesThatAreCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	img := image.NewGray(image.Rect(0, 0, 9, 9))
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"whole.jpg": b.Bytes(), "more.jpg": append(bytes.Clone(b.Bytes()), "more than an image"...), "short.jpg": b.Bytes()[:b.Len()-40], "tiny.jpg": b.Bytes()[:3]} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := newFiles(t.Context(), dir, []string{"whole.jpg", "more.jpg"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Options{}).pictures(t.Context(), f); err != nil {
		t.Errorf("whole images: %v", err)
	}
	if f, err = newFiles(t.Context(), dir, []string{"short.jpg", "more.jpg", "tiny.jpg", "whole.jpg"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := (Options{}).pictures(t.Context(), f); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "2 of 4 images cannot be read") || !strings.Contains(err.Error(), "tiny.jpg") || strings.Contains(err.Error(), "more.jpg") {
		t.Error(err)
	}
}
