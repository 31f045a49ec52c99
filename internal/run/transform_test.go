package run

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// photoTree writes classes of JPEGs of different sizes.
func photoTree(t testing.TB, classes, per int) string {
	t.Helper()
	dir := t.TempDir()
	for k := range classes {
		for i := range per {
			r := rng.New(uint64(k), "photo", uint64(i))
			img := image.NewRGBA(image.Rect(0, 0, 20+r.IntN(9), 20+r.IntN(9)))
			for p := range len(img.Pix) / 4 {
				img.Set(p%img.Rect.Dx(), p/img.Rect.Dx(), color.RGBA{uint8(30 * k), uint8(r.IntN(256)), uint8(255 - 20*k), 255})
			}
			var b bytes.Buffer
			if err := jpeg.Encode(&b, img, nil); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, fmt.Sprintf("c%d", k), fmt.Sprintf("%d.jpg", i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			testutil.Write(t, path, b.String())
		}
	}
	return dir
}

// A run on images that are decoded when they are needed has the same bits for any number
// of batches made ahead, also where it was killed and resumed, and its manifest says how
// its images are made.
func TestTransformedRun(t *testing.T) {
	t.Parallel()
	root := photoTree(t, 8, 4)
	make := func(sets ...string) *Run {
		text := fmt.Sprintf(`name: t
data: {name: folder, root: %q, split: {kind: class}, transform: {train: [RandomResizedCrop(16), RandomHorizontalFlip, ColorJitter(0.2)], test: [Resize(18), CenterCrop(16)]}}
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 4}
train: {epochs: 3, checkpoint_every: 2 steps}
eval: {bootstrap: 10, kmeans: {n_init: 2}}
`, root)
		cfg, err := config.LoadBytes([]byte(text), "t.yaml", sets)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Create(t.TempDir(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	train := func(r *Run) string {
		if _, err := r.Train(t.Context(), Watch{}); err != nil {
			t.Fatal(err)
		}
		return weights(t, r)
	}
	r := make()
	want := train(r)
	for _, ahead := range []string{"0", "5"} {
		if train(make("batch.prefetch="+ahead)) != want {
			t.Errorf("%s batches ahead: other weights", ahead)
		}
	}
	k := make()
	killed(t, k, 5)
	k.Close()
	again, _ := resumed(t, k.Dir, "")
	if weights(t, again) != want {
		t.Error("killed and resumed: other weights")
	}
	p := r.Manifest.Data.Pixels
	if p == nil || !strings.Contains(p.Train, "scale=(0.08, 1)") || !strings.HasPrefix(p.Test, "Resize(size=18, interpolation=bilinear), CenterCrop") || p.Decoder == "" || p.Resize == "" || !(r.Manifest.Waited > 0 && r.Manifest.Waited < r.Manifest.Seconds) {
		t.Errorf("manifest: %+v, waited %v of %v s", p, r.Manifest.Waited, r.Manifest.Seconds)
	}
}
