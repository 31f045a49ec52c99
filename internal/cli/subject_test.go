package cli

import "testing"

// TestOneRun: of two --run only the last was evaluated, without a word.
func TestOneRun(t *testing.T) {
	for _, command := range []string{"eval", "attack", "cluster"} {
		refuse(t, ExitUsage, command+" --run runs/a --run runs/b", `--run is "runs/b": runs/a is given already; give one run`)
	}
}
