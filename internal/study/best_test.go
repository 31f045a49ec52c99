package study

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tercet/internal/rundir"
)

// tuned is a run of a loss with a margin, its NMI on test images and on held-out ones.
func tuned(t *testing.T, loss, margin string, seed int, nmi float64, heldOut string) *rundir.Run {
	t.Helper()
	r := fakeClustered(t, "mnist", loss, 0.2, seed, map[string]float64{"kmeans": nmi})
	dir := r.Dir + "-" + margin
	if err := os.Rename(r.Dir, dir); err != nil {
		t.Fatal(err)
	}
	if heldOut != "" {
		put(t, dir, "eval-validation.json", fmt.Sprintf(`{"schema": "tercet.eval/1", "source": {"set": "validation", "checkpoint": "last", "step": 7}, "clustering": {"nmi": {"value": %s}}}`, heldOut))
	}
	return read(t, dir, append(r.Labels, label("loss.margin", margin), label("loss.alpha", margin), label("loss.beta", "0.1"))...)
}

// Each seed chooses the margins of each loss by held-out images alone, also where others are
// better on test images; the claim is on what was chosen, seed by seed.
func TestBestOfEachSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	runs := []*rundir.Run{
		tuned(t, "triplet", "0.2", 0, 0.5, "0.7"), tuned(t, "triplet", "0.5", 0, 0.9, "0.6"), // chosen: 0.5
		tuned(t, "triplet", "0.2", 1, 0.9, "0.1"), tuned(t, "triplet", "0.5", 1, 0.6, "0.2"), // 0.6
		tuned(t, "triplet-threshold", "0.2", 0, 0.7, "0.9"), tuned(t, "triplet-threshold", "0.5", 0, 0.1, "0.8"), // 0.7
		tuned(t, "triplet-threshold", "0.2", 1, 0.8, "0.9"), tuned(t, "triplet-threshold", "0.5", 1, 1, ""), // 0.8
	}
	d := compare(t, "clustering-tuned", runs)
	// t(0.975, 1) = 12.706204736174698; half the interval of two values a and b is t |a-b|/2.
	const half = 12.706204736174698
	meanIs(t, "L1", find(t, d, "loss=L1").Scores["nmi"], 0.55, half*0.05, 2)
	meanIs(t, "L3", find(t, d, "loss=L3").Scores["nmi"], 0.75, half*0.05, 2)
	notes := strings.Join(d.Notes, "\n")
	for _, want := range []string{"chosen by held_out among 1 to 2 runs each", "L1 0.2 1 times", "L1 0.5 1 times", "L3 0.2/0.1 2 times", "without held_out, so not compared: runs/mnist-triplet-threshold-0.2-1-0.5"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
	q := quantity(t, compare(t, "clustering-tuned-claims", runs), "L3 outperforms L1", "kmeans, noise 0.2", "NMI, L3 - L1")
	meanIs(t, "L3 - L1", q.Estimate, 0.2, 0, 2)
	if q.Verdict != "inconclusive" {
		t.Errorf("two seeds that agree by chance: %s", q.Verdict)
	}
}
