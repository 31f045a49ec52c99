package run

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/run/tinytest"
)

// A memory that a whole run only warms up for is said, and one that is used is not.
func TestMemoryThatIsNeverUsed(t *testing.T) {
	t.Parallel()
	for warmup, want := range map[string]bool{"0 steps": false, "1000 steps": true} {
		r := create(t, t.TempDir(), "train.epochs=1", "loss.memory.size=8", "loss.memory.warmup="+warmup)
		var notes []string
		if _, err := r.Train(context.Background(), noting(&notes)); err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "nothing is compared with earlier batches") })
		if got != want {
			t.Errorf("warmup %s: %q", warmup, notes)
		}
	}
}

// With a memory batch-all has more triplets than it lists: training is refused before it begins,
// if the run is long enough to fill the memory.
func TestMemoryThatIsTooMuchForTheMiner(t *testing.T) {
	t.Parallel()
	for sets, refused := range map[string]bool{
		"train.epochs=1000 loss.memory.size=4000 miner=batch-all":                                true,
		"train.epochs=1 loss.memory.size=4000 miner=batch-all":                                   false,
		"train.epochs=1000 loss.memory.size=4000 miner=batch-all loss.memory.warmup=1000 epochs": false,
		"train.epochs=1000 loss.memory.size=40 miner=batch-all":                                  false,
		"train.epochs=1000 loss.memory.size=4000 miner=semihard":                                 false,
	} {
		var list []string
		for _, s := range strings.Split(sets, " ") {
			if k := len(list) - 1; !strings.Contains(s, "=") {
				list[k] += " " + s
			} else {
				list = append(list, s)
			}
		}
		_, err := Precheck(t.Context(), tinytest.Config(t, list...), data.Open, nil)
		if got := err != nil && strings.Contains(err.Error(), "loss.memory.size") && strings.Contains(err.Error(), "batch-all would list"); got != refused || err != nil && !refused {
			t.Errorf("%s: %v", sets, err)
		}
	}
}
