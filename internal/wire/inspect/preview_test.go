package inspect

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
)

func decode(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gray is the picture's red level in the middle of pixel (0, x) of tile (row,
// col): images of 1 x 2 pixels are enlarged 32 times, tiles are 64 pixels high.
func gray(m image.Image, row, col, x int) int {
	const margin, top, gap, caption, side = 20, 60, 8, 20, 64
	r, _, _, _ := m.At(margin+col*(side+gap)+32*x+16, top+row*(side+gap+caption)+32).RGBA()
	return int(r >> 8)
}

func TestPreviewShowsClassesInRows(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train",
		[][2]byte{{10, 1}, {90, 2}, {20, 3}, {30, 4}, {91, 5}, {40, 6}, {50, 7}, {60, 8}},
		[]byte{4, 9, 4, 4, 9, 4, 6, 6})
	writeIDX(t, dir, "test", [][2]byte{{5, 6}}, []byte{4})
	path := filepath.Join(dir, "sheet.png")
	d, err := DrawPreview(t.Context(), idxConfig(t, dir), path, PreviewOptions{Set: "train", Classes: 3, PerClass: 3})
	if err != nil {
		t.Fatal(err)
	}
	// Of four images of the first class three, evenly spread; of the others two.
	for i, want := range [][]int32{{0, 2, 3}, {6, 7}, {1, 4}} {
		if len(d.Rows) != 3 || !slices.Equal(d.Rows[i].Shown, want) {
			t.Fatalf("rows %+v", d.Rows)
		}
	}
	m := decode(t, path)
	for row, want := range [][]int{{10, 20, 30}, {50, 60, 255}, {90, 91, 255}} { // 255: left white
		for col, w := range want {
			if got := gray(m, row, col, 0); got != w {
				t.Errorf("row %d, image %d: gray %d, want %d", row, col, got, w)
			}
		}
	}
	if got := gray(m, 2, 1, 1); got != 5 {
		t.Errorf("second pixel %d, want 5", got)
	}
}

// Mirrored images, found by their pixels: each is either itself or its mirror
// image, and of 60 both kinds occur.
func TestPreviewShowsAugmentation(t *testing.T) {
	dir := t.TempDir()
	pixels, labels := make([][2]byte, 60), make([]byte, 60)
	for i := range pixels {
		pixels[i], labels[i] = [2]byte{200, byte(i)}, byte(i%2)
	}
	writeIDX(t, dir, "train", pixels, labels)
	writeIDX(t, dir, "test", pixels[:1], labels[:1])
	path := filepath.Join(dir, "sheet.png")
	d, err := DrawPreview(t.Context(), idxConfig(t, dir, "data.augment.flip=true"), path, PreviewOptions{Set: "train", Classes: 2, PerClass: 30, Augment: true})
	if err != nil {
		t.Fatal(err)
	}
	m := decode(t, path)
	flipped := 0
	for row, r := range d.Rows {
		for col, i := range r.Shown {
			a, b := gray(m, row, col, 0), gray(m, row, col, 1)
			switch {
			case a == int(i) && b == 200:
				flipped++
			case a != 200 || b != int(i):
				t.Fatalf("item %d became %d, %d", i, a, b)
			}
		}
	}
	if flipped < 15 || flipped > 45 {
		t.Errorf("%d of 60 images are mirrored", flipped)
	}
}

func TestPreviewRefuses(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train", [][2]byte{{1, 2}, {3, 4}}, []byte{0, 1})
	writeIDX(t, dir, "test", [][2]byte{{5, 6}}, []byte{0})
	path := filepath.Join(dir, "sheet.png")
	x, y := writeVectors(t, dir, []float32{1, 2, 3, 4}, 2, []int32{0, 1})
	npy, err := config.Load("", []string{"data=npy", "data.train.vectors=" + x, "data.train.labels=" + y, "data.test.vectors=" + x, "data.test.labels=" + y})
	if err != nil {
		t.Fatal(err)
	}
	var conf *config.Error
	ok := PreviewOptions{Set: "train", Classes: 1, PerClass: 1}
	for name, tc := range map[string]struct {
		cfg  *config.Config
		o    PreviewOptions
		want func(err error) bool
	}{
		"vectors":                 {npy, ok, func(err error) bool { return errors.Is(err, data.ErrUnfit) }},
		"no validation set":       {idxConfig(t, dir), PreviewOptions{Set: "validation", Classes: 1, PerClass: 1}, func(err error) bool { return errors.Is(err, data.ErrUnfit) }},
		"no classes":              {idxConfig(t, dir), PreviewOptions{Set: "train", PerClass: 1}, func(err error) bool { return err != nil }},
		"augmentation off":        {idxConfig(t, dir), PreviewOptions{"train", 1, 1, true}, func(err error) bool { return errors.As(err, &conf) && conf.Key == "data.augment" }},
		"augmented test":          {idxConfig(t, dir), PreviewOptions{"test", 1, 1, true}, func(err error) bool { return err != nil }},
		"no files":                {idxConfig(t, t.TempDir()), ok, func(err error) bool { return errors.Is(err, data.ErrMissing) }},
		"a value that is too big": {idxConfig(t, dir, "data.crop=2"), ok, func(err error) bool { return errors.As(err, &conf) && conf.Key == "data" }},
	} {
		if _, err := DrawPreview(t.Context(), tc.cfg, path, tc.o); !tc.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a sheet was written", name)
		}
	}
}

func TestShorten(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "automobile": "automobile", "Sanskrit.character12": "Sans…ter12", "Ωμέγα και Ωμέγα": "Ωμέγ…Ωμέγα", "U+0416 Ж": "U+0416 Ж",
	} {
		if got := shorten(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
