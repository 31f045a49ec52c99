package robustness

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// The stored values of the queries, read again, have the means that the document has,
// and ERS of each query has the mean ERS.
func TestValuesOfQueries(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	suite, _ := attack.Suite("ers")
	o := record.AttackOptions{Attacks: suite, Queries: 8, PerQuery: true}
	if err := Profile(&o, "rob28", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 1
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attack.json")
	if err := record.Write(path, a.Doc); err != nil {
		t.Fatal(err)
	}
	d, err := record.ReadKept[record.Attack](path)
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	items, err := d.Items.Values(d.Queries)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range a.Result.Queries {
		if items[i] != float32(q) {
			t.Errorf("query %d is item %v, want %d", i, items[i], q)
		}
	}
	for _, v := range []string{"published", "fixed"} {
		values := map[string][]float32{}
		for key, p := range d.Values[v] {
			if values[key], err = p.Values(d.Queries); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, x := range values[key] {
				sum += float64(x) / float64(d.Queries) // one batch: the published mean is plain, too
			}
			want, _ := d.Scores[v].Get(key)
			if math.Abs(sum-want.Value) > 1e-6 {
				t.Errorf("%s %s: mean %v, want %v", v, key, sum, want.Value)
			}
		}
		if len(values) != 10 {
			t.Errorf("%s: %d scores", v, len(values))
		}
		ers := 0.0
		for i := range d.Queries {
			ers += attack.RobustnessScore(func(key string) float64 { return float64(values[key][i]) }) / float64(d.Queries)
		}
		if want, _ := d.Scores[v].Get("ERS"); math.Abs(ers-want.Value) > 1e-6 {
			t.Errorf("%s: ERS %v, want %v", v, ers, want.Value)
		}
	}
	o.PerQuery = false
	if lost := PlannedAttack(o).Covers(*d); len(lost) != 1 || lost[0] != "the values of each query" {
		t.Errorf("a result without them covers one with them: %q", lost)
	}
}
