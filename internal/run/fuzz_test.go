package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/metric"
)

// fuzzFolder is a folder in memory where the system has such a place: a disk would
// make a fuzzer wait for it.
func fuzzFolder(f *testing.F) string {
	f.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tercet-fuzz-")
	if err != nil {
		return f.TempDir()
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A run directory of any config and manifest is opened or refused as ErrNoRun.
func FuzzRunMetadata(f *testing.F) {
	cfg, err := config.LoadBytes([]byte("name: x"), "x.yaml", nil)
	if err != nil {
		f.Fatal(err)
	}
	text, err := cfg.Resolved()
	if err != nil {
		f.Fatal(err)
	}
	good := `{"schema":"tercet.run/1","name":"x","config_hash":"` + identity(text) + `"`
	f.Add("name: x", good+`}`)
	f.Add("name: x", good+`,"status":"finished","steps":5,"steps_planned":-1}`)
	f.Add("name: [", `{"schema":"tercet.run/2"}`)
	f.Add("", "null")
	dir := fuzzFolder(f)
	f.Fuzz(func(t *testing.T, config, manifest string) {
		for name, content := range map[string]string{"config.yaml": config, "manifest.json": manifest} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(dir)
		switch {
		case err == nil && (r.Config == nil || r.Manifest.Schema == ""):
			t.Fatalf("opened without %+v", r)
		case err != nil && !errors.Is(err, ErrNoRun):
			t.Fatalf("%v is not ErrNoRun", err)
		}
	})
}

// Labels of any text beside as many points are scored with finite intervals, or
// refused as bad data: the way of tercet eval --labels.
func FuzzBootstrapOfLabels(f *testing.F) {
	f.Add([]byte("label\na\na\nb\nb\n"))
	f.Add([]byte("1\n1\n2\n"))
	f.Add([]byte("1\n\n2\n"))
	f.Add([]byte("x,label\n1,2\n"))
	dir := fuzzFolder(f)
	path := filepath.Join(dir, "labels.csv")
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 200 {
			return
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		labels, classes, err := npy.ReadLabels(npy.LabelFile{Path: path})
		if err != nil {
			if !errors.Is(err, data.ErrFormat) {
				t.Fatalf("%v is not data.ErrFormat", err)
			}
			return
		}
		checkBootstrap(t, labels, len(classes))
	})
}

func checkBootstrap(t *testing.T, labels []int32, classes int) {
	t.Helper()
	x := make([]float32, len(labels))
	for i := range x {
		x[i] = float32(i * i % 7)
	}
	r, err := metric.Retrieve(t.Context(), x, len(x), 1, labels, metric.RetrievalOptions{Intervals: metric.Intervals{Resamples: metric.MinResamples}})
	if err != nil {
		if !errors.Is(err, metric.ErrInput) {
			t.Fatalf("%v is not metric.ErrInput", err)
		}
		return
	}
	for _, s := range r.Scores {
		if !(s.Value.Value >= 0 && s.Value.Value <= 1) {
			t.Fatalf("%s is %v, %d classes", s.Key, s.Value.Value, classes)
		}
		if ci := s.CI95; ci != nil && !(ci[0] >= 0 && ci[0] <= ci[1] && ci[1] <= 1) {
			t.Fatalf("%s has the interval %v", s.Key, *ci)
		}
	}
}
