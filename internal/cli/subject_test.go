package cli_test

import (
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// TestOneRun: of two --run only the last was evaluated, without a word.
func TestOneRun(t *testing.T) {
	for _, command := range []string{"eval", "attack", "cluster"} {
		clitest.Refuse(t, base.ExitUsage, command+" --run runs/a --run runs/b", `--run is "runs/b": runs/a is given already; give one run`)
	}
}

// TestLabelColumnErrorsNameTheFlag: they said "want a header that names the column".
func TestLabelColumnErrorsNameTheFlag(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.Vectors(t, "x.npy", 4, 2, 0, 1, 1, 2, 2, 1, 4, 4)
	clitest.WriteFile(t, "y.csv", "a,b\n1,2\n1,2\n3,2\n3,4\n")
	clitest.WriteFile(t, "g.txt", "MULTICUT\n0 1 1\n1 2 -1\n2 3 1\n")
	clitest.Must(t, 0, "cluster --embeddings x.npy -k 2 --out c")
	for _, line := range []string{
		"cluster --graph g.txt --labels y.csv", "cluster assign --clusters c --embeddings x.npy --labels y.csv",
		"eval --embeddings x.npy --labels y.csv", "cluster --embeddings x.npy --labels y.csv -k 2",
		"data inspect --embeddings x.npy --labels y.csv", "eval --embeddings x.npy --labels y.csv --label-column c",
	} {
		clitest.Refuse(t, base.ExitData, line, ": --label-column NAME")
	}
}
