package clitest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tercet/internal/config"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
)

// PairFake is a run of FakeRun on a pair graph, by the types with which train writes it.
func PairFake(t *testing.T, name string, width int, seed uint64, test float64) string {
	t.Helper()
	dir := FakeRun(t, name, seed, 0.5, "batch={sampler: pair-graph, scenario: s2, pairs: 600}", "loss=contrastive", "noise={kind: pln, effective: 0.1}", fmt.Sprintf("model={name: mlp, width: %d}", width))
	m := record.Manifest{Schema: record.RunSchema, Name: name, Version: "v1", Status: record.Finished, Seed: seed, Steps: 10, Of: 10}
	m.Data.Name, m.Data.Train.Classes, m.Model.Name = "mnist", 10, "mlp"
	m.Data.Noise = &record.Noise{Kind: noise.PairLabel, Wanted: 0.1, Effective: 0.1}
	m.Data.Graph = &record.PairGraph{Scenario: noise.Dense, Negatives: noise.SameIndex, Order: noise.Shuffled, Pairs: 600, Effective: 0.1}
	score := func(v float64) record.PairScore { return record.PairScore{Pairs: 600, Error: v} }
	held := score(test)
	doc := record.Pairs{Schema: record.PairsSchema, Parameters: 1000 * width, Steps: 10, Train: score(0.005), TrainClean: score(0.1), Test: &held, FloorDuplicates: 0.005}
	for file, v := range map[string]any{"manifest.json": m, "pairs.json": doc} {
		if err := record.Write(filepath.Join(dir, file), v); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// FakeRun writes what train and eval leave in runs/NAME, by the types with which
// they write it.
func FakeRun(t *testing.T, name string, seed uint64, recall float64, sets ...string) string {
	t.Helper()
	cfg, err := config.Load("", append(sets, "name="+name, fmt.Sprint("seed=", seed)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := cfg.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("runs", name)
	if err := os.MkdirAll(filepath.Join(dir, "figures"), 0o755); err != nil {
		t.Fatal(err)
	}
	WriteFile(t, filepath.Join(dir, "config.yaml"), string(text))
	m := record.Manifest{Schema: record.RunSchema, Name: name, Version: "v1", Status: record.Finished, Seed: seed, Steps: 10, Of: 10, Seconds: 2}
	m.Model.Name, m.Cost.Forward, m.Cost.Backward = "cnn", 640, 320
	scores := func(v float64) record.Evaluated {
		return record.Evaluated{Retrieval: record.Scores{{Key: "recall@1", Value: record.Value{Value: v, CI95: &[2]float64{v - 0.1, v + 0.1}, Definition: "recall@1(any)"}}}}
	}
	e := record.Eval{Schema: record.EvalSchema, Evaluated: scores(recall), Baselines: map[string]record.Evaluated{"pixels": scores(0.25)}}
	e.Source.Checkpoint, e.Source.Step, e.Source.Set = "last", 10, "test"
	for file, doc := range map[string]any{"manifest.json": m, "eval.json": e} {
		if err := record.Write(filepath.Join(dir, file), doc); err != nil {
			t.Fatal(err)
		}
	}
	tile := render.Tile{Image: render.Image{Pix: make([]float32, 16), H: 4, W: 4, C: 1}}
	if err := render.ContactSheet(filepath.Join(dir, "figures", "retrieval.png"), "", []render.Tile{tile}, 1); err != nil {
		t.Fatal(err)
	}
	return dir
}
