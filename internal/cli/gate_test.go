package cli_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// A gate on a score that will not be measured is refused before any work.
func TestGatesAreCheckedFirst(t *testing.T) {
	exampleFolder(t)
	for _, c := range []struct{ line, want string }{
		{"eval --run runs/first --fail-under recal@1=0.5", "did you mean recall@1"},
		{"eval --run runs/first --no-kmeans --fail-under nmi=0.5", "will not be measured"},
		{"attack --run runs/first --fail-under ES:X=0.5", "ES:D, ES:R"},
		{"attack --run runs/first --norm l2", "--eps and --step"},
		{"cluster --embeddings X.npy -k 2 --fail-under nmi=0.5", "--labels"},
		{"cluster --embeddings X.npy -k 2 --checkpoint best", "--run"},
	} {
		code, out, stderr := clitest.Run(strings.Fields(c.line)...)
		if code != base.ExitUsage || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want code 2 and %q", c.line, code, out, stderr, c.want)
		}
	}
}
