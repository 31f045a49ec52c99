package inspect

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/embed"
	"tercet/internal/engine/array"
	"tercet/internal/record/printed"
	"tercet/internal/wire"
)

func silent(string, int, int) {}

// writeIDX writes images of one row and two pixels, and their labels.
func writeIDX(t *testing.T, dir, name string, pixels [][2]byte, labels []byte) {
	t.Helper()
	n := byte(len(pixels))
	img := []byte{0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 1, 0, 0, 0, 2}
	for _, p := range pixels {
		img = append(img, p[0], p[1])
	}
	lab := append([]byte{0, 0, 8, 1, 0, 0, 0, n}, labels...)
	for file, b := range map[string][]byte{name + "-images": img, name + "-labels": lab} {
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// idxConfig is a config of the files that writeIDX writes as train and test.
func idxConfig(t *testing.T, dir string, sets ...string) *config.Config {
	t.Helper()
	cfg, err := config.Load("", append([]string{
		"data=idx", "data.root=" + dir,
		"data.train.images=train-images", "data.train.labels=train-labels",
		"data.test.images=test-images", "data.test.labels=test-labels",
		"batch.pairs=2",
	}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Counted by hand: six training images, of which one occurs again under its own
// label and once more under another; two test images are training images, one
// class of the test set is trained on.
func TestInspectCountsByHand(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train",
		[][2]byte{{255, 0}, {255, 0}, {255, 0}, {51, 51}, {0, 255}, {102, 0}},
		[]byte{0, 0, 1, 1, 1, 2})
	writeIDX(t, dir, "test", [][2]byte{{255, 0}, {102, 0}, {7, 8}}, []byte{2, 5, 5})
	d, err := Inspect(context.Background(), idxConfig(t, dir), silent)
	if err != nil {
		t.Fatal(err)
	}
	tr, te := d.Train, d.Test
	if tr.Items != 6 || tr.Classes != 3 || tr.PerClassMin != 1 || tr.PerClassMed != 2 || tr.PerClassMax != 3 || tr.Singles != 1 {
		t.Errorf("counts of train: %+v", tr)
	}
	if tr.Height != 1 || tr.Width != 2 || tr.Channels != 1 || tr.Duplicates != 2 || tr.Conflicts != 1 || tr.Constant != 1 {
		t.Errorf("train: %+v", tr)
	}
	// 1,0 thrice, 0.2 twice, 0,1 and 0.4,0: mean 4.8/12.
	mean := 4.8 / 12
	std := math.Sqrt((4+2*0.04+0.16)/12 - mean*mean)
	if math.Abs(tr.Mean-mean) > 1e-7 || math.Abs(tr.Std-std) > 1e-7 || tr.Min != 0 || tr.Max != 1 {
		t.Errorf("pixels of train: %v %v, want %v %v", tr.Mean, tr.Std, mean, std)
	}
	if te.Items != 3 || te.Classes != 2 || te.Duplicates != 0 || te.Constant != 0 || d.Validation != nil || tr.Lengths != nil {
		t.Errorf("test: %+v", te)
	}
	if len(d.Overlaps) != 1 || d.Overlaps[0] != (printed.Overlap{Of: "test", In: "train", Items: 2, Classes: 1}) {
		t.Errorf("overlaps %+v", d.Overlaps)
	}
	// class-pairs: items of classes 0 and 1; an epoch is at most 6/(2*2) batches.
	b := d.Sampler
	if b == nil || b.Name != "class-pairs" || b.BatchRows != 4 || b.Layout != "pairs" || b.Coverage.Items != 6 || b.Coverage.Batches != b.Steps || b.Coverage.Rows != 4*b.Steps {
		t.Errorf("sampler %+v", b)
	}
	want := []string{
		"train: items that occur earlier under another label: 1",
		"train: classes of one item, which has no positive and is left out as a query: 1",
		"train: constant images: 1",
		"test: classes of one item, which has no positive and is left out as a query: 1",
		"2 of the 3 items of test are also in train: scores on them flatter",
	}
	if len(d.Warnings) != len(want) {
		t.Fatalf("warnings %q", d.Warnings)
	}
	for i, w := range want {
		if d.Warnings[i] != w {
			t.Errorf("warning %q, want %q", d.Warnings[i], w)
		}
	}
}

// The fingerprint must be the one that a run's manifest records.
func TestInspectShowsTheFingerprintsOfRuns(t *testing.T) {
	cfg, err := config.Load("", []string{"data.glyphs.classes=4", "data.glyphs.test_classes=3", "data.glyphs.per_class=4", "batch.pairs=4", "data.split.validation=0.25"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Inspect(context.Background(), cfg, silent)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := wire.OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sets.Record(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Fingerprint != r.Train.Fingerprint || d.Test.Fingerprint != r.Test.Fingerprint || d.Validation.Fingerprint != r.Validation.Fingerprint {
		t.Errorf("%s %s %s, want %+v", d.Train.Fingerprint, d.Validation.Fingerprint, d.Test.Fingerprint, r)
	}
	if d.Train.Classes != 3 || d.Validation.Classes != 1 || d.Test.Classes != 3 {
		t.Errorf("classes %d %d %d", d.Train.Classes, d.Validation.Classes, d.Test.Classes)
	}
	want := []printed.Overlap{{Of: "validation", In: "train", Items: 0, Classes: 0}, {Of: "test", In: "train", Items: 0, Classes: 0}, {Of: "test", In: "validation", Items: 0, Classes: 0}}
	for i, o := range want {
		if len(d.Overlaps) != 3 || d.Overlaps[i] != o {
			t.Errorf("overlaps %+v", d.Overlaps)
		}
	}
}

func TestInspectShowsDataThatTheSamplerRefuses(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train", [][2]byte{{1, 2}, {3, 4}}, []byte{3, 3})
	writeIDX(t, dir, "test", [][2]byte{{5, 6}}, []byte{3})
	d, err := Inspect(context.Background(), idxConfig(t, dir), silent)
	if !errors.Is(err, data.ErrUnfit) || d == nil || d.Train.Classes != 1 || d.Sampler != nil {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestInspectTellsConfigFromData(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train", [][2]byte{{1, 2}, {3, 4}}, []byte{0, 1})
	writeIDX(t, dir, "test", [][2]byte{{5, 6}}, []byte{0})
	var conf *config.Error
	if _, err := Inspect(context.Background(), idxConfig(t, dir, "data.crop=2"), silent); !errors.As(err, &conf) || conf.Key != "data" {
		t.Errorf("a crop that is too large: %v", err)
	}
	if _, err := Inspect(context.Background(), idxConfig(t, t.TempDir()), silent); !errors.Is(err, data.ErrMissing) || errors.As(err, &conf) {
		t.Errorf("no files: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "test-images"), []byte{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3}, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(context.Background(), idxConfig(t, dir), silent); err == nil || errors.As(err, &conf) {
		t.Errorf("two shapes: %v", err)
	}
}

func TestInspectStopsWhenInterrupted(t *testing.T) {
	dir := t.TempDir()
	writeIDX(t, dir, "train", [][2]byte{{1, 2}, {3, 4}}, []byte{0, 1})
	writeIDX(t, dir, "test", [][2]byte{{5, 6}}, []byte{0})
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stop)
	if _, err := Inspect(ctx, idxConfig(t, dir), silent); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// writeVectors writes x and y.npy into dir.
func writeVectors(t *testing.T, dir string, x []float32, n int, y []int32) (vectors, labels string) {
	t.Helper()
	a, err := array.Of(x, n, len(x)/n)
	if err != nil {
		t.Fatal(err)
	}
	vectors, labels = filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	fx, err := os.Create(vectors)
	if err != nil {
		t.Fatal(err)
	}
	defer fx.Close()
	fy, err := os.Create(labels)
	if err != nil {
		t.Fatal(err)
	}
	defer fy.Close()
	if err := errors.Join(npy.Write(fx, a), npy.WriteLabels(fy, y)); err != nil {
		t.Fatal(err)
	}
	return vectors, labels
}

func TestInspectFiles(t *testing.T) {
	x, y := writeVectors(t, t.TempDir(), []float32{3, 4, 0, 0, -1, 0, 3, 4}, 4, []int32{7, 7, 9, 9})
	d, err := InspectFiles(t.Context(), x, npy.LabelFile{Path: y})
	if err != nil {
		t.Fatal(err)
	}
	v := d.Vectors
	if v.Items != 4 || v.Channels != 2 || v.Classes != 2 || v.PerClassMin != 2 || v.Duplicates != 1 || v.Conflicts != 1 || v.Min != -1 || v.Max != 4 {
		t.Errorf("%+v", v)
	}
	if l := v.Lengths; l == nil || l.Min != 0 || l.Max != 5 || math.Abs(l.Mean-11.0/4) > 1e-12 || l.Zeros != 1 {
		t.Errorf("lengths %+v", l)
	}
	read, _, err := embed.ReadVectors(x, npy.LabelFile{Path: y})
	if err != nil || v.Fingerprint != read.Fingerprint() {
		t.Errorf("fingerprint %s", v.Fingerprint)
	}
	if len(d.Warnings) != 2 {
		t.Errorf("warnings %q", d.Warnings)
	}
	if _, err := InspectFiles(t.Context(), x+"x", npy.LabelFile{Path: y}); !errors.Is(err, data.ErrMissing) {
		t.Errorf("no file: %v", err)
	}
}
