// Package rundirtest writes run directories with results for the tests of what reads them.
package rundirtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/option"
	"tercet/internal/render"
	"tercet/internal/rundir"
)

// Messages name options as the program does.
func init() { option.Spell(func(name string) string { return "--" + name }) }

// Put writes a file below dir and makes its folders.
func Put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Manifest is that of a run of 100 steps which has come to one of them.
func Manifest(seed int, status string, steps int) string {
	return fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "version": "v1", "status": %q, "message": "stopped. Try less.", "seed": %d,
 "config_hash": "0123456789ab", "data": {"name": "glyphs",
  "train": {"items": 400, "classes": 20, "shape": [32, 32, 1], "fingerprint": "sha256:aa"},
  "test": {"items": 200, "classes": 10, "shape": [32, 32, 1], "fingerprint": "sha256:bb"}},
 "model": {"name": "cnn", "embedding": 16, "parameters": 1234}, "steps": %d, "steps_planned": 100,
 "cost": {"Forward": 6400, "Backward": 3200}, "seconds": 12.5, "cpu": "Some CPU", "kernel": "avx2", "os": "linux/amd64", "started": "2026-01-02T03:04:05Z"}`, status, seed, steps)
}

// EvalFile is a document of recall@1, of the run and of its untrained network.
func EvalFile(recall, untrained float64) string {
	return fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "classes": 10, "dim": 16, "fingerprint": "sha256:bb"},
 "retrieval": {"recall@1": {"value": %v, "ci95": [0.7, 1], "definition": "recall@1(any)"}, "map@10": {"value": 0.5, "definition": "map@10(robrank)"}},
 "clustering": {"nmi": {"value": 0.5, "definition": "nmi(arithmetic)"}}, "queries_excluded": 3, "warnings": ["beware"],
 "baselines": {"pixels": {"retrieval": {"recall@1": {"value": 0.25, "definition": "recall@1(any)"}}},
  "untrained": {"retrieval": {"recall@1": {"value": %v, "definition": "recall@1(any)"}}}},
 "cost": {"Forward": 400, "Backward": 0, "seconds": 1.5}}`, recall, untrained)
}

// AttackFile is a document of the attack ES in both variants.
const AttackFile = `{"schema": "tercet.attack/2", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16},
 "options": {"attacks": ["ES"], "norm": "linf", "eps": 0.25, "step": 0.0625, "iterations": 32, "rule": "fixed", "start": "clean", "restarts": 1, "keep": "last"}, "queries": 200,
 "scores": {"fixed": {"ES:D": {"value": 1.5, "definition": "es:d(fixed)"}, "ES:R": {"value": 0.125, "definition": "es:r(fixed)"}},
  "published": {"ES:D": {"value": 1.25, "definition": "es:d(published)"}, "ES:R": {"value": 0.1, "definition": "es:r(published)"}}},
 "clean": {"fixed": {"ES:D": {"value": 0}, "ES:R": {"value": 0.875}}, "published": {"ES:D": {"value": 0}, "ES:R": {"value": 0.75}}},
 "right_when_clean": {"fixed": {"queries": 175, "scores": {"ES:D": {"value": 1}, "ES:R": {"value": 0.14}}}}, "cost": {"Forward": 264, "Backward": 2048, "seconds": 3}}`

// ClusterFile is a document of three clusters by k-means.
const ClusterFile = `{"schema": "tercet.cluster/1", "source": {"checkpoint": "last", "step": 100, "set": "test", "items": 200, "dim": 16}, "options": {"method": "kmeans"},
 "clusters": 3, "sizes": [50, 20, 130], "objective": 12.5, "lower_bound": null, "clustering": {"nmi": {"value": 0.75, "definition": "nmi(arithmetic)"}},
 "cost": {"Forward": 200, "seconds": 0.5}, "labels": [0, 1, 2]}`

// Fake makes a run directory and reads it.
func Fake(t *testing.T, dir string, seed int, status string, results map[string]string, labels ...rundir.Label) *rundir.Run {
	t.Helper()
	steps := 100
	if status != "finished" {
		steps = 40
	}
	Put(t, dir, "manifest.json", Manifest(seed, status, steps))
	for name, text := range results {
		Put(t, dir, name, text)
	}
	r, err := rundir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.Labels = append([]rundir.Label{{Key: "name", Value: "x"}, {Key: "seed", Value: fmt.Sprint(seed)}}, labels...)
	return r
}

// Replaced changes parts of a document.
func Replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// Picture writes a small picture.
func Picture(t *testing.T, path string) {
	t.Helper()
	gray := render.Image{Pix: make([]float32, 16), H: 4, W: 4, C: 1}
	if err := render.ContactSheet(path, "", []render.Tile{{Image: gray}}, 1); err != nil {
		t.Fatal(err)
	}
}
