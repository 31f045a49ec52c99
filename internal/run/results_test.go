package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cluster/solve"
	"tercet/internal/clustering"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/npy"
	"tercet/internal/evaluate"
	"tercet/internal/metric"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
	"tercet/internal/testutil"
)

// fields decodes v's JSON.
func fields(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// measured checks that m[key] is a value with a definition and, where wanted, an
// interval around it.
func measured(t *testing.T, m map[string]any, key string, interval bool) {
	t.Helper()
	v, ok := m[key].(map[string]any)
	if !ok {
		t.Errorf("no %q among %d scores", key, len(m))
		return
	}
	x, ok := v["value"].(float64)
	if !ok || math.IsNaN(x) || v["definition"] == "" || v["definition"] == nil {
		t.Errorf("%s is %v", key, v)
	}
	if ci, ok := v["ci95"].([]any); interval && (!ok || len(ci) != 2 || ci[0].(float64) > x || ci[1].(float64) < x) {
		t.Errorf("%s: interval %v around %v", key, v["ci95"], x)
	}
}

func has(t *testing.T, m map[string]any, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			t.Errorf("no field %q", k)
		}
	}
}

func TestTheDocuments(t *testing.T) {
	ctx := context.Background()
	r := runtest.Trained(t, t.TempDir())
	retrieval := []string{"recall@1", "recall@2", "map", "map@r", "r_precision", "mrr", "map@10", "map@10(position-masked)"}
	got := []string{"nmi", "ami", "ari", "acc", "purity", "v_measure", "bcubed_f1"}

	e, err := evaluate.Eval(ctx, r, "last", "test", evaluate.Defaults(r.Config), tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	doc := fields(t, e.Doc)
	has(t, doc, "schema", "source", "options", "retrieval", "clustering", "baselines", "cost")
	if doc["schema"] != "tercet.eval/1" {
		t.Errorf("schema %v", doc["schema"])
	}
	groups := []map[string]any{doc}
	for _, name := range []string{"pixels", "untrained"} {
		groups = append(groups, doc["baselines"].(map[string]any)[name].(map[string]any))
	}
	for _, g := range groups {
		for _, k := range retrieval {
			measured(t, g["retrieval"].(map[string]any), k, true)
		}
		for _, k := range got {
			measured(t, g["clustering"].(map[string]any), k, false)
		}
	}
	src := doc["source"].(map[string]any)
	has(t, src, "run", "checkpoint", "step", "set", "items", "classes", "dim", "fingerprint")
	if src["items"] != 36.0 || src["dim"] != 8.0 || src["step"] != 18.0 {
		t.Errorf("source %v", src)
	}

	o := record.AttackOptions{Attacks: []string{"ES"}, Variants: []string{"published", "fixed"}, Queries: 8, Batch: 4, Bootstrap: 20, Pictures: 2}
	if err := robustness.Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 4
	a, err := robustness.Attack(ctx, r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	doc = fields(t, a.Doc)
	has(t, doc, "schema", "source", "options", "queries", "scores", "clean", "attacks", "cost")
	if doc["schema"] != "tercet.attack/2" || doc["queries"] != 8.0 {
		t.Errorf("schema %v, %v queries", doc["schema"], doc["queries"])
	}
	for _, variant := range []string{"published", "fixed"} {
		s := doc["scores"].(map[string]any)[variant].(map[string]any)
		measured(t, s, "ES:D", true)
		measured(t, s, "ES:R", true)
		c := doc["clean"].(map[string]any)[variant].(map[string]any)
		measured(t, c, "ES:R", true)
		right := doc["right_when_clean"].(map[string]any)[variant].(map[string]any)
		if want := math.Round(8 * c["ES:R"].(map[string]any)["value"].(float64)); right["queries"] != want {
			t.Errorf("%s: %v queries were right, want %v", variant, right["queries"], want)
		}
	}
	if cost := doc["cost"].(map[string]any); cost["forward"].(float64) < 36+8*4 || cost["backward"].(float64) < 8*4 {
		t.Errorf("cost %v", cost)
	}

	c, err := clustering.Cluster(ctx, r, "last", "test", 0, record.ClusterOptions{Method: "kmeans", NInit: 2}, solve.Share{}, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	doc = fields(t, c.Doc)
	has(t, doc, "schema", "source", "options", "labels", "clusters", "sizes", "objective", "lower_bound", "gap", "threshold", "clustering", "cost")
	if doc["schema"] != "tercet.cluster/2" || doc["clusters"] != 6.0 || len(doc["labels"].([]any)) != 36 {
		t.Errorf("schema %v, %v clusters", doc["schema"], doc["clusters"])
	}
	for _, k := range got {
		measured(t, doc["clustering"].(map[string]any), k, false)
	}
	sum := 0
	for _, n := range c.Doc.Sizes {
		sum += n
	}
	if sum != 36 {
		t.Errorf("sizes %v", c.Doc.Sizes)
	}
}

// A result is a function of run and options: twice the same but for the time.
func TestResultsRepeat(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	var texts []string
	for range 2 {
		e, err := evaluate.Eval(context.Background(), r, "best", "test", evaluate.Defaults(r.Config), tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		e.Doc.Cost.Seconds = 0
		b, err := json.Marshal(e.Doc)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if texts[0] != texts[1] {
		t.Errorf("got\n%s\nthen\n%s", texts[0], texts[1])
	}
}

func TestWhatARunDoesNotHave(t *testing.T) {
	ctx := context.Background()
	r := runtest.Create(t, t.TempDir())
	if _, err := r.Embed(ctx, "last", "test", 0, tinytest.Quiet); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "has the run been trained?") {
		t.Errorf("not trained: %v", err)
	}
	runtest.Interrupted(t, r, 3)
	for _, tc := range []struct {
		checkpoint, set string
		want            string
	}{
		{"last", "validation", "data.split.validation holds one out"},
		{"last", "tset", "valid: test, validation, train"},
		{"first", "test", "valid: last, best"},
		{"best", "test", "best.safetensors"}, // none before the first epoch ends
	} {
		if _, err := r.Embed(ctx, tc.checkpoint, tc.set, 0, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %s: error %v", tc.checkpoint, tc.set, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Embed(gone, "last", "test", 0, tinytest.Quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestVectorsOfOtherTools(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	tinytest.Blobs(t, dir, 5, 8, 4, 0)
	x, y := filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")
	o := record.EvalOptions{Ks: []int{1}, Distance: "euclidean", KMeans: true, NInit: 2}
	e, err := evaluate.Files(ctx, x, npy.LabelFile{Path: y}, o, nil, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	doc := fields(t, e.Doc)
	measured(t, doc["retrieval"].(map[string]any), "recall@1", false)
	if _, ok := doc["baselines"]; ok || doc["source"].(map[string]any)["embeddings"] != x {
		t.Errorf("document %v", doc["source"])
	}
	testutil.Write(t, filepath.Join(dir, "few.csv"), "1\n2\n")
	if _, err := evaluate.Files(ctx, x, npy.LabelFile{Path: filepath.Join(dir, "few.csv")}, o, nil, tinytest.Quiet); !errors.Is(err, data.ErrFormat) || !strings.Contains(err.Error(), "has 2 labels") {
		t.Errorf("error %v", err)
	}
	c, err := clustering.Files(ctx, x, npy.LabelFile{}, record.ClusterOptions{Method: "kmeans", K: 3, NInit: 2}, solve.Share{}, nil, tinytest.Quiet)
	if err != nil || c.Doc.Clustering != nil || c.Doc.Clusters != 3 {
		t.Errorf("without labels: %v", err)
	}
	if _, err := clustering.Files(ctx, x, npy.LabelFile{}, record.ClusterOptions{Method: "kmeans"}, solve.Share{}, nil, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), "give -k") {
		t.Errorf("error %v", err)
	}
}

// The config refuses what the bootstrap refuses, and no less.
func TestMostResamples(t *testing.T) {
	for n, want := range map[int]bool{metric.MaxResamples: true, metric.MaxResamples + 1: false} {
		_, err := config.LoadBytes([]byte(testutil.Tiny), "tiny.yaml", []string{fmt.Sprintf("eval.bootstrap=%d", n)})
		if (err == nil) != want {
			t.Errorf("%d resamples: error %v", n, err)
		}
	}
}

// The validation set decides, the test set is not looked at.
func TestTheMonitorLooksAtTheValidationSet(t *testing.T) {
	for _, tc := range []struct {
		sets []string
		note bool
	}{
		{[]string{"data.split.validation=0.5"}, false},
		{nil, true},
	} {
		var notes []string
		r := runtest.Create(t, t.TempDir(), append(tc.sets, "train.early_stop={metric: clustering.nmi, patience: 1}", "train.epochs=30", "train.eval_samples=0")...)
		_, err := r.Train(context.Background(), run.Watch{Note: func(f string, a ...any) { notes = append(notes, fmt.Sprintf(f, a...)) }})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(notes, "\n")
		if got := strings.Count(text, "no validation set"); (got == 1) != tc.note || got > 1 {
			t.Errorf("%v: notes %s", tc.sets, text)
		}
		m := r.Manifest
		if m.Status != record.Finished || m.Best.Metric != "nmi" || m.Steps == m.Of {
			t.Errorf("%v: %+v did not stop early", tc.sets, m)
		}
		// The best value can be measured again on the set that it came from.
		set := "test"
		if !tc.note {
			set = "validation"
		}
		o := evaluate.Defaults(r.Config)
		o.Baselines = false
		e, err := evaluate.Eval(context.Background(), r, "best", set, o, tinytest.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := e.Doc.Clustering.Get("nmi"); v.Value != m.Best.Value || e.Doc.Source.Set != set || e.Doc.Source.Step != m.Best.Step {
			t.Errorf("%s: nmi %v at step %d, the run's best is %+v", set, v.Value, e.Doc.Source.Step, *m.Best)
		}
	}
}
