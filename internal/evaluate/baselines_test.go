package evaluate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

const startRun = `
data: {name: glyphs, glyphs: {classes: 8, per_class: 4, test_classes: 6}, size: 16}
model: {name: mlp, width: 6}
batch: {sampler: class-pairs, pairs: 4}
train: {steps: 2, eval_samples: 0}
eval: {ks: [1]}
`

// The untrained network of a run that begins with a file has the file's weights: its
// scores are those of the run that made them. Without the file it is left out.
func TestUntrainedHasTheStartWeights(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first := runtest.Fitted(t, root, startRun, "name=first")
	b, err := os.ReadFile(first.Last())
	file := filepath.Join(root, "begin.safetensors")
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	second := runtest.Fitted(t, root, startRun, "name=second", "seed=7", "model.weights="+file)
	o := Defaults(first.Config)
	o.KMeans, o.Bootstrap = false, 0
	want, err := Eval(context.Background(), first, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Eval(context.Background(), second, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := want.Doc.Retrieval.Get("map")
	for doc, same := range map[string]bool{"first": false, "second": true} {
		e := map[string]*Evaluation{"first": want, "second": got}[doc]
		if u, ok := e.Doc.Baselines["untrained"].Retrieval.Get("map"); !ok || (u.Value == a.Value) != same {
			t.Errorf("%s: untrained %v, trained %v; want equal: %v", doc, u.Value, a.Value, same)
		}
	}
	for what, spoil := range map[string]func() error{
		"another file": func() error { return os.WriteFile(file, mustRead(t, second.Last()), 0o644) },
		"no file":      func() error { return os.Remove(file) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		e, err := Eval(context.Background(), second, "last", "test", o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		_, there := e.Doc.Baselines["untrained"]
		if there || !slices.ContainsFunc(e.Doc.Warnings, func(w string) bool { return strings.Contains(w, "untrained is left out") && strings.Contains(w, file) }) {
			t.Errorf("%s: untrained is there: %v; warnings %q", what, there, e.Doc.Warnings)
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
