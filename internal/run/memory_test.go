package run

import (
	"context"
	"slices"
	"strings"
	"testing"
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
