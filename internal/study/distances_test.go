package study

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// fakeDistant is a run of a loss with the distances of its pairs.
func fakeDistant(t *testing.T, loss string, seed int, spread, eer float64) *rundir.Run {
	t.Helper()
	dir := fmt.Sprintf("runs/%s-%d", loss, seed)
	put(t, dir, "manifest.json", fmt.Sprintf(`{"schema": "tercet.run/1", "name": "x", "status": "finished", "seed": %d, "steps": 7, "data": {"name": "mnist"}, "model": {"name": "cnn"}}`, seed))
	kind := `{"mean": 0.4, "p5": 0.1, "p25": 0.2, "median": 0.4, "p75": 0.5, "p95": 0.9}`
	put(t, dir, "eval.json", fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"run": "x", "checkpoint": "last", "step": 7, "set": "test"}, "retrieval": {"recall@1": {"value": 0.5, "definition": "r"}},
 "pairs": {"eer": {"value": %v, "definition": "eer(pairs)"}}, "pair_counts": {"same": 1, "different": 1, "eer_threshold": 1, "auc_slack": 0},
 "pair_distances": {"same": %s, "different": %s, "within": {"mean": 0.4, "least": 0.2, "greatest": 0.6, "relative_sd": %v}}}`, eer, kind, strings.ReplaceAll(kind, "0.4", "1.2"), spread))
	return read(t, dir, label("name", dir), label("seed", seed), label("model.name", "cnn"), label("noise.kind", "sln"), label("noise.rate", 0.4),
		label("loss.name", loss), label("loss.distance", "squared"), label("loss.form", "hinge"))
}

// The spread over classes is compared seed by seed: by hand, 10, 11 and 12 points more are
// 11 ±2.48 (t = 4.303, s = 1, n = 3), above 0; errors that differ by 0, 1 and -1 points decide nothing.
func TestDistancesOfLosses(t *testing.T) {
	t.Chdir(t.TempDir())
	var runs []*rundir.Run
	for seed := range 3 {
		s := float64(seed)
		runs = append(runs, fakeDistant(t, "triplet", seed, 0.3+0.01*s, 0.02+0.01*[]float64{0, 1, -1}[seed]),
			fakeDistant(t, "triplet-capped", seed, 0.35+0.01*s, 0.5), fakeDistant(t, "triplet-threshold", seed, 0.2, 0.02))
	}
	var b bytes.Buffer
	for _, name := range []string{"clustering-distances", "clustering-distance-claims"} {
		if err := compare(t, name, runs).Layout(true).Write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		"mnist,0.4,L1,3,0.400", ",0.100,0.9,1.2,1.2,1.2,0.100,0.9,0.200,0.6,0.310,0.285,0.335,0.020,-0.005,0.045",
		`classes of L1 differ more,mnist,noise 0.4,"spread over classes, L1 - L3",3,0.110,0.085,0.135,interval above 0,supported`,
		`L1 - L2",3,-0.050,-0.050,-0.050,interval above 0,contradicted`, `pairs, L1 - L3",3,0,-0.025,0.025,interval above 0,inconclusive`,
	} {
		if !strings.Contains(rounded(b.String()), want) {
			t.Errorf("no %s in\n%s", want, rounded(b.String()))
		}
	}
}

// rounded has the numbers of a CSV with three digits.
func rounded(csv string) string {
	return regexp.MustCompile(`-?\d\.\d+`).ReplaceAllStringFunc(csv, func(s string) string {
		if v, _ := strconv.ParseFloat(s, 64); len(s) > 3 {
			return fmt.Sprintf("%.3f", v)
		}
		return s
	})
}
