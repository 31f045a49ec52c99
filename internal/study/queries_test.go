package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/rundir"
)

// ersKeys are the ten scores that ERS follows from, with what each adds to it.
var ersKeys = map[string][2]float64{"CA+": {0, 2}, "CA-": {1, -1}, "QA+": {0, 2}, "QA-": {1, -1}, "TMA": {1, -1},
	"ES:D": {1, -0.5}, "ES:R": {0, 1}, "LTM": {0, 1}, "GTM": {0, 1}, "GTT": {0, 1}}

// fakeQueries is a run of a defense whose results store the values of 400 queries, the
// first of which is image first. It returns recall@1 and ERS of each.
func fakeQueries(t *testing.T, defense string, seed, first int) (r *rundir.Run, recall, ers []float64) {
	t.Helper()
	const n = 400
	random := rng.New(uint64(seed), "queries/"+defense)
	dir := fmt.Sprintf("runs/%s-%d-%d", defense, seed, first)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "seed": %d, "steps": 7,
 "data": {"name": "mnist", "train": {"items": 60000}}, "model": {"name": "c2f2"}, "crafted": {"hardness": -0.5}}`, seed))
	items, ers := make([]float64, n), make([]float64, n)
	for i := range items {
		items[i] = float64(first + i)
	}
	packed := map[string]record.Packed{}
	for _, key := range slices.Sorted(maps.Keys(ersKeys)) {
		term, values := ersKeys[key], make([]float64, n)
		for i := range values {
			values[i] = float64(float32(random.Float64()))
			ers[i] += (term[0] + term[1]*values[i]) / 10
		}
		packed[key] = record.Pack(values)
	}
	for range n {
		recall = append(recall, math.Round(random.Float64()))
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	value := func(key string, list []float64) string {
		return fmt.Sprintf(`{%q: {"value": %v, "definition": "d"}}`, key, averageOf(list))
	}
	source := `"source": {"run": "x", "checkpoint": "last", "step": 7, "set": "test", "items": 410}`
	put(t, dir, "eval.json", fmt.Sprintf(`{"schema": "tercet.eval/1", %s, "queries_excluded": 10, "retrieval": %s, "items": %s, "values": {"recall@1": %s}}`,
		source, value("recall@1", recall), text(record.Pack(items)), text(record.Pack(recall))))
	put(t, dir, "attack.json", fmt.Sprintf(`{"schema": "tercet.attack/2", %s, "queries": %d, "options": {"attacks": ["ES"], "variants": ["fixed"]}, "scores": {"fixed": %s}, "clean": {}, "attacks": [], "items": %s, "values": {"fixed": %s}}`,
		source, n, value("ERS", ers), text(record.Pack(items)), text(packed)))
	return read(t, dir, label("name", dir), label("seed", seed), label("model.name", "c2f2"), label("defense.name", defense), label("defense.pgd.steps", 8), label("defense.pgd.scale", "ball")), recall, ers
}

func averageOf(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// Two networks of one seed are compared query by query: the interval of the mean
// difference is close to the normal one, of recall@1 and of ERS, which is made of its ten
// scores. Other queries give no interval, two seeds one over seeds, damage an error.
func TestDifferencesByQuery(t *testing.T) {
	t.Chdir(t.TempDir())
	a, recallA, ersA := fakeQueries(t, "act", 0, 0)
	b, recallB, ersB := fakeQueries(t, "none", 0, 0)
	d := compare(t, "defenses-complete", []*rundir.Run{a, b})
	if len(d.Contrasts) != 1 || d.Contrasts[0].Name != "ACT, 8 steps - none" {
		t.Fatalf("%+v", d.Contrasts)
	}
	for score, of := range map[string][2][]float64{"recall@1": {recallA, recallB}, "ERS fixed": {ersA, ersB}} {
		e := d.Contrasts[0].Scores[score]
		mean, squares := averageOf(of[0])-averageOf(of[1]), 0.0
		for i := range of[0] {
			squares += math.Pow(of[0][i]-of[1][i]-mean, 2)
		}
		half := 1.96 * math.Sqrt(squares) / float64(len(of[0]))
		if e.CI95 == nil || e.Queries != 400 || e.N != 1 || math.Abs(e.Value-mean) > 1e-9 ||
			math.Abs(e.CI95[0]-(mean-half)) > 0.15*half || math.Abs(e.CI95[1]-(mean+half)) > 0.15*half {
			t.Errorf("%s: %+v, %v; want %v ±%v", score, e, e.CI95, mean, half)
		}
	}
	if notes := strings.Join(d.Layout(true).Notes, "\n"); !strings.Contains(notes, "paired bootstrap over its queries") {
		t.Errorf("notes %s", notes)
	}

	other, _, _ := fakeQueries(t, "none", 0, 5)
	if e := compare(t, "defenses-complete", []*rundir.Run{a, other}).Contrasts[0].Scores["recall@1"]; e.CI95 != nil || e.Queries != 0 {
		t.Errorf("other queries: %+v", e)
	}
	a1, _, _ := fakeQueries(t, "act", 1, 0)
	b1, _, _ := fakeQueries(t, "none", 1, 0)
	if e := compare(t, "defenses-complete", []*rundir.Run{a, b, a1, b1}).Contrasts[0].Scores["recall@1"]; e.N != 2 || e.Queries != 0 || e.CI95 == nil {
		t.Errorf("two seeds: %+v", e)
	}
	put(t, b.Dir, "eval.json", `{"schema": "tercet.eval/1", "source": {"run": "x", "checkpoint": "last", "step": 7, "set": "test", "items": 400}, "retrieval": {"recall@1": {"value": 0.5, "definition": "d"}}, "items": "AAAA", "values": {"recall@1": "AAAA"}}`)
	if _, err := BuiltInTable("defenses-complete").Compare([]*rundir.Run{a, b}); !errors.Is(err, rundir.ErrRun) || !strings.Contains(err.Error(), "of each query") {
		t.Errorf("damaged: %v", err)
	}
}
