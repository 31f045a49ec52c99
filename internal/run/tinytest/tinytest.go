package tinytest

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data/npy"
	"tercet/internal/engine/array"
	"tercet/internal/fsx"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// Config is the config of the tiny run, changed by sets.
func Config(t testing.TB, sets ...string) *config.Config {
	t.Helper()
	cfg, err := config.LoadBytes([]byte(testutil.Tiny), "tiny.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Quiet reports no progress.
func Quiet(string, int, int) {}

// Blobs writes x.npy and y.npy: per vectors (d) of each class, around a
// point of their own.
func Blobs(t testing.TB, dir string, classes, per, d int, shift float32) {
	t.Helper()
	os.MkdirAll(dir, 0o755)
	r := rng.New(1, "vectors")
	x := array.New(classes*per, d)
	y := make([]int32, classes*per)
	for i := range y {
		y[i] = int32(i % classes)
		for j := range d {
			x.Data[i*d+j] = float32(y[i])*float32(j%3) + shift + float32(0.3*r.NormFloat64())
		}
	}
	for name, f := range map[string]func(io.Writer) error{
		"x.npy": func(w io.Writer) error { return npy.Write(w, x) },
		"y.npy": func(w io.Writer) error { return npy.WriteLabels(w, y) },
	} {
		if err := fsx.Write(filepath.Join(dir, name), 0o644, f); err != nil {
			t.Fatal(err)
		}
	}
}

// VectorsConfig is tiny without the keys of glyphs.
func VectorsConfig(t testing.TB, sets ...string) *config.Config {
	t.Helper()
	cfg, err := config.LoadBytes([]byte("name: vectors\nbatch: {sampler: class-pairs-distinct, pairs: 4}\ntrain: {epochs: 3}\neval: {bootstrap: 20}\n"), "v.yaml", sets)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// FittedText is a metric of 5 dimensions on 72 images of 16x16 pixels.
const FittedText = `
name: fitted
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
model: {name: mahalanobis, dims: 5}
metric: {sigma: 0.01}
eval: {bootstrap: 0, kmeans: {n_init: 2}}
`

// Must panics where there is an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// OnPairs makes of tiny a run on 48 pairs of 24 of 48 images.
var OnPairs = []string{"miner=semihard", "data.glyphs={classes: 6, per_class: 8, test_classes: 6}", "batch={sampler: pair-graph, pairs: 48, size: 16}", "loss=contrastive",
	"model={name: mlp, width: 8, normalize: false}", "data.split={kind: fraction, train: 0.5}", "eval.pairs=20"}

// PairsText are the changes that make a run on pairs, and more.
func PairsText(more ...string) []string { return append(append([]string(nil), OnPairs...), more...) }
