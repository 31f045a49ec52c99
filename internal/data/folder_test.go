package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/data/file"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gray makes an image of h x w whose pixel at (y, x) is f.
func gray(h, w int, f func(y, x int) uint8) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetGray(x, y, color.Gray{Y: f(y, x)})
		}
	}
	return img
}

func flat(h, w int, v uint8) *image.Gray { return gray(h, w, func(int, int) uint8 { return v }) }

func TestFolder(t *testing.T) {
	ramp := func(y, x int) uint8 { return uint8(20*y + 3*x) }
	rgb := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for p := range 6 {
		copy(rgb.Pix[4*p:], []byte{byte(p), byte(10 * p), byte(40 * p), 255})
	}
	root := testutil.Tree(t, map[string][]byte{
		"b/2.png":         encodePNG(t, gray(2, 3, ramp)),
		"b/10.PNG":        encodePNG(t, rgb),
		"b/.hidden.png":   []byte("not an image"),
		"b/notes.txt":     []byte("skipped"),
		"a/x.png":         encodePNG(t, flat(2, 3, 9)),
		".git/x.png":      []byte("not an image"),
		"__MACOSX/._.png": []byte("not an image"),
		"readme.md":       []byte("skipped"),
	})
	// A link to a folder is a folder.
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, ".a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".a", filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	train, test, err := openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if test != nil {
		t.Error("a test set out of nothing")
	}
	if h, w, c := train.Shape(); h != 2 || w != 3 || c != 3 {
		t.Fatalf("shape %d %d %d", h, w, c)
	}
	if !slices.Equal(train.Classes(), []string{"a", "b"}) || !slices.Equal(train.Labels(), []int32{0, 1, 1}) {
		t.Errorf("%v %v", train.Classes(), train.Labels())
	}
	for i, name := range []string{"a/x.png", "b/10.PNG", "b/2.png"} {
		if got := train.ItemName(i); got != filepath.Join(root, name) {
			t.Errorf("item %d is %s, want %s", i, got, name)
		}
	}
	var want []uint8
	for range 18 {
		want = append(want, 9)
	}
	for p := range 6 {
		want = append(want, byte(p), byte(10*p), byte(40*p))
	}
	for y := range 2 {
		for x := range 3 {
			v := ramp(y, x)
			want = append(want, v, v, v)
		}
	}
	if !slices.Equal(train.pixels, want) {
		t.Errorf("got  %v\nwant %v", train.pixels, want)
	}
	// Gray keeps gray as it is, and takes colors by their luma.
	train, _, err = openFolder(t.Context(), root, "", "", ImageOptions{Color: "grey"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want = []uint8{9, 9, 9, 9, 9, 9}
	for p := range 6 {
		want = append(want, color.GrayModel.Convert(rgb.RGBAAt(p%3, p/3)).(color.Gray).Y)
	}
	for y := range 2 {
		for x := range 3 {
			want = append(want, ramp(y, x))
		}
	}
	for i, v := range train.pixels {
		if d := int(v) - int(want[i]); d > 1 || d < -1 || (d != 0 && i/6 != 1) {
			t.Errorf("gray pixel %d is %d, want %d", i, v, want[i])
		}
	}
}

func TestFolderTrainAndTest(t *testing.T) {
	px := encodePNG(t, flat(2, 2, 9))
	root := testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "train/b/1.png": px, "test/c/1.png": px, "LICENSE": nil})
	train, test, err := openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(train.Classes(), []string{"a", "b"}) || !slices.Equal(test.Classes(), []string{"c"}) {
		t.Errorf("%v %v", train.Classes(), test.Classes())
	}
	root = testutil.Tree(t, map[string][]byte{"train/a/1.png": px, "test/c/1.png": encodePNG(t, flat(2, 3, 9))})
	_, _, err = openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "2x2x1", "2x3x1", "data.size")
	_, _, err = openFolder(t.Context(), root, "train", "val", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrMissing, "val", "data.root")
	_, _, err = openFolder(t.Context(), root, "", "train", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrFormat, "a folder inside class")
}

// hugePNG is a tiny file that announces 60000 x 60000 pixels.
func hugePNG() []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	head := append([]byte("IHDR"), 0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 2, 0, 0, 0)
	b = append(b, head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}

func TestFolderErrors(t *testing.T) {
	px := encodePNG(t, gray(40, 40, func(y, x int) uint8 { return uint8(y*x*7 ^ y) }))
	huge := "60000x60000"
	if strconv.IntSize == 32 { // the decoder refuses it before this package can
		huge = "dimension overflow"
	}
	corrupt := bytes.Clone(px)
	corrupt[len(px)/2] ^= 0xff
	for name, c := range map[string]struct {
		files map[string][]byte
		o     ImageOptions
		kind  error
		say   []string
	}{
		"no folders":   {map[string][]byte{"x.png": px}, ImageOptions{}, ErrMissing, []string{"no folders", "one folder a class"}},
		"no images":    {map[string][]byte{"a/1.png": px, "b/x.txt": nil}, ImageOptions{}, ErrFormat, []string{"b has no PNG or JPEG"}},
		"folder":       {map[string][]byte{"a/1.png": px, "a/b/1.png": px}, ImageOptions{}, ErrFormat, []string{"a/b is a folder inside class a"}},
		"truncated":    {map[string][]byte{"a/1.png": px, "a/2.png": px[:len(px)/2]}, ImageOptions{}, ErrFormat, []string{"a/2.png", "unreadable image"}},
		"corrupt":      {map[string][]byte{"a/1.png": px, "a/2.png": corrupt}, ImageOptions{}, ErrFormat, []string{"a/2.png", "unreadable image"}},
		"not an image": {map[string][]byte{"a/1.jpg": []byte("hello")}, ImageOptions{}, ErrFormat, []string{"a/1.jpg", "unreadable image", "unknown format"}},
		"empty":        {map[string][]byte{"a/1.png": px, "b/1.jpeg": nil}, ImageOptions{}, ErrFormat, []string{"b/1.jpeg"}},
		"huge":         {map[string][]byte{"a/1.png": px, "b/1.png": hugePNG()}, ImageOptions{}, ErrFormat, []string{"b/1.png", huge}},
		"two shapes":   {map[string][]byte{"a/1.png": px, "b/1.png": encodePNG(t, flat(40, 41, 1))}, ImageOptions{}, ErrFormat, []string{"b/1.png gives 40x41", "a/1.png 40x40", "data.size"}},
		"large crop":   {map[string][]byte{"a/1.png": px}, ImageOptions{Crop: 41}, ErrFormat, []string{"a/1.png", "crop of 41", "40x40"}},
		"option":       {map[string][]byte{"a/1.png": px}, ImageOptions{Color: "gray"}, nil, []string{`color "gray"`, "grey or rgb"}},
		"filter":       {map[string][]byte{"a/1.png": px}, ImageOptions{Filter: "box"}, nil, []string{`filter "box"`}},
		"fit":          {map[string][]byte{"a/1.png": px}, ImageOptions{Fit: "long"}, nil, []string{`fit "long"`}},
		"size":         {map[string][]byte{"a/1.png": px}, ImageOptions{Size: -1}, nil, []string{"size -1"}},
		"large size":   {map[string][]byte{"a/1.png": px}, ImageOptions{Size: 16384}, ErrFormat, []string{"16384x16384"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := openFolder(t.Context(), testutil.Tree(t, c.files), "", "", c.o, nil)
			testutil.WantError(t, err, c.kind, c.say...)
		})
	}
	_, _, err := openFolder(t.Context(), filepath.Join(t.TempDir(), "gone"), "", "", ImageOptions{}, nil)
	testutil.WantError(t, err, ErrMissing, "gone", "data.root")
	testutil.WantError(t, file.CheckTotal(1<<20, 1<<20), ErrUnfit, "1024.0 GiB", "smaller size")
}

// The first bad file in order is named, whichever thread finds one first.
func TestFolderErrorDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	files := map[string][]byte{}
	for i := range 40 {
		files[string([]byte{'a', '/', 'a' + byte(i/26), 'a' + byte(i%26)})+".png"] = encodePNG(t, flat(2, 2, 1))
	}
	files["a/ah.png"], files["a/bb.png"] = nil, nil
	root := testutil.Tree(t, files)
	for _, n := range []int{1, 2, 7} {
		par.SetThreads(n)
		_, _, err := openFolder(t.Context(), root, "", "", ImageOptions{}, nil)
		testutil.WantError(t, err, ErrFormat, "ah.png")
	}
}

func TestGeometry(t *testing.T) {
	for _, c := range []struct {
		o    ImageOptions
		h, w int
		want [4]int
	}{
		{ImageOptions{}, 7, 9, [4]int{7, 9, 7, 9}},
		{ImageOptions{Size: 20}, 7, 9, [4]int{20, 20, 20, 20}},
		{ImageOptions{Size: 20, Fit: "short"}, 10, 15, [4]int{20, 30, 20, 30}},
		{ImageOptions{Size: 20, Fit: "short", Crop: 16}, 15, 10, [4]int{30, 20, 16, 16}},
		{ImageOptions{Size: 20, Fit: "short"}, 10, 10, [4]int{20, 20, 20, 20}},
		{ImageOptions{Crop: 4}, 7, 9, [4]int{7, 9, 4, 4}},
	} {
		rh, rw, oh, ow, err := c.o.geometry(c.h, c.w)
		if got := [4]int{rh, rw, oh, ow}; got != c.want || err != nil {
			t.Errorf("%+v of %dx%d: %v, want %v (%v)", c.o, c.h, c.w, got, c.want, err)
		}
	}
}

func TestRender(t *testing.T) {
	// A linear ramp stays one under both filters, away from the borders.
	ramp := gray(40, 40, func(_, x int) uint8 { return uint8(5*x + 10) })
	for _, filter := range []string{"catmullrom", "bilinear"} {
		for _, side := range []int{20, 80} {
			dst := make([]uint8, side*side)
			if err := (ImageOptions{Size: side, Filter: filter, Color: "grey"}).render(ramp, dst, new(canvas)); err != nil {
				t.Fatal(err)
			}
			for y := range side {
				for x := side / 10; x < side-side/10; x++ {
					want := 5*((float64(x)+0.5)*40/float64(side)-0.5) + 10
					if d := float64(dst[y*side+x]) - want; d > 1.01 || d < -1.01 {
						t.Fatalf("%s to %d: pixel %d,%d is %d, want %.1f", filter, side, y, x, dst[y*side+x], want)
					}
				}
			}
		}
	}
	// Shrinking averages: a fine chessboard becomes gray.
	board := gray(40, 40, func(y, x int) uint8 { return uint8(255 * ((x + y) % 2)) })
	dst := make([]uint8, 100)
	if err := (ImageOptions{Size: 10, Color: "grey"}).render(board, dst, new(canvas)); err != nil {
		t.Fatal(err)
	}
	for i, v := range dst {
		if v < 110 || v > 145 {
			t.Errorf("chessboard pixel %d is %d", i, v)
		}
	}
	testutil.WantError(t, (ImageOptions{}).render(board, dst, new(canvas)), array.ErrShape, "40x40x3", "100")
	// The crop is the center.
	dst = make([]uint8, 4)
	if err := (ImageOptions{Crop: 2, Color: "grey"}).render(gray(4, 6, func(y, x int) uint8 { return uint8(10*y + x) }), dst, new(canvas)); err != nil || !slices.Equal(dst, []uint8{12, 13, 22, 23}) {
		t.Errorf("crop %v %v", dst, err)
	}
	// Transparent is white, opaque is itself, half is between.
	img := image.NewNRGBA(image.Rect(5, 5, 8, 6)) // bounds that do not begin at 0
	img.SetNRGBA(5, 5, color.NRGBA{R: 200, A: 0})
	img.SetNRGBA(6, 5, color.NRGBA{R: 200, G: 100, B: 50, A: 255})
	img.SetNRGBA(7, 5, color.NRGBA{A: 128})
	dst = make([]uint8, 9)
	if err := (ImageOptions{}).render(img, dst, new(canvas)); err != nil || !slices.Equal(dst, []uint8{255, 255, 255, 200, 100, 50, 127, 127, 127}) {
		t.Errorf("transparency %v %v", dst, err)
	}
}

func TestJPEG(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, flat(16, 16, 77), &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	root := testutil.Tree(t, map[string][]byte{"a/1.jpeg": b.Bytes(), "b/1.JPG": b.Bytes()})
	train, _, err := openFolder(t.Context(), root, "", "", ImageOptions{Color: "grey"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range train.pixels {
		if v < 76 || v > 78 {
			t.Fatalf("pixel %d, want 77", v)
		}
	}
}

func TestConvert(t *testing.T) {
	m := toy(t, 6, 4, 3, 5, 5)
	if got, err := Convert(t.Context(), m, ImageOptions{}); err != nil || got != m {
		t.Errorf("nothing to do: %v", err)
	}
	g, err := Convert(t.Context(), m, ImageOptions{Color: "grey", Crop: 4})
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := g.Shape(); h != 4 || w != 4 || c != 1 || !slices.Equal(g.Labels(), m.Labels()) {
		t.Fatalf("shape %d %d %d", h, w, c)
	}
	for i := range 10 {
		for p := range 16 {
			s := m.pixels[i*72+3*(p+4):] // one row of 4 is cut off above
			want := 0.299*float64(s[0]) + 0.587*float64(s[1]) + 0.114*float64(s[2])
			if d := float64(g.pixels[i*16+p]) - want; d > 0.51 || d < -0.51 {
				t.Fatalf("item %d pixel %d: %d, want %.2f", i, p, g.pixels[i*16+p], want)
			}
		}
	}
	up, err := Convert(t.Context(), g, ImageOptions{Color: "rgb"})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range g.pixels {
		if !slices.Equal(up.pixels[3*i:3*i+3], []uint8{v, v, v}) {
			t.Fatal("gray to rgb changes values")
		}
	}
	if _, err := Convert(t.Context(), m, ImageOptions{Crop: 5}); err == nil {
		t.Error("crop of 5 from 6x4 accepted")
	}
}

func TestRenderDoesNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(0)
	r := rng.New(3, "render")
	files := map[string][]byte{}
	for i := range 12 {
		files["a/"+string(rune('a'+i))+".png"] = encodePNG(t, gray(9+i%3, 12, func(int, int) uint8 { return uint8(r.Uint32()) }))
	}
	root := testutil.Tree(t, files)
	var first []uint8
	for _, n := range []int{1, 2, 5} {
		par.SetThreads(n)
		m, _, err := openFolder(t.Context(), root, "", "", ImageOptions{Size: 8, Color: "grey"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m.pixels
		}
		if !slices.Equal(first, m.pixels) {
			t.Errorf("%d threads give other pixels", n)
		}
	}
}

func TestRealOmniglot(t *testing.T) {
	train, test, err := openFolder(t.Context(), testutil.RealData(t, "omniglot"), "", "", ImageOptions{Size: 28}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h, w, c := train.Shape(); h != 28 || w != 28 || c != 1 {
		t.Errorf("1-bit files give %dx%dx%d", h, w, c)
	}
	if len(train.Classes()) != 136 || len(test.Classes()) != 106 {
		t.Fatalf("%d and %d classes", len(train.Classes()), len(test.Classes()))
	}
	for _, ds := range []*Memory{train, test} {
		for k, m := range ByClass(ds) {
			if len(m) != 20 {
				t.Errorf("class %s has %d images", ds.Classes()[k], len(m))
			}
		}
	}
	for _, c := range test.Classes() {
		if slices.Contains(train.Classes(), c) {
			t.Errorf("class %s is in both", c)
		}
	}
}

// Class folders without train and test are the usual case: the error says what to set.
func TestFolderWithoutTrain(t *testing.T) {
	root := testutil.Tree(t, map[string][]byte{"a/1.png": encodePNG(t, flat(2, 2, 9))})
	_, _, err := Open(t.Context(), Options{Source: FolderOptions{root, "train", "test"}})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "no folder "+filepath.Join(root, "train")+" (data.root is "+root+"); for class folders without train and test set data.split.kind: class") {
		t.Errorf("got %v", err)
	}
}
