package commands_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/emit"
	"tercet/internal/record/printed"
)

func TestEmit(t *testing.T) {
	clitest.InTiny(t)
	const line = "train tiny.yaml --set 'sweep={seed: [0, 1, 2], optimizer.lr: [1e-3, 1e-2]}' --set train.epochs=2 --threads 2 --runs-dir 'my runs' --emit "
	before := clitest.Snapshot(t, ".")
	for _, format := range emit.Formats() {
		if emit.InRanks(format) {
			continue
		}
		out := clitest.Must(t, 0, line+format)
		words := `--set 'sweep={seed: [0, 1, 2], optimizer.lr: [1e-3, 1e-2]}' --set train.epochs=2`
		if !strings.Contains(out, "tercet sweep status --config tiny.yaml "+words+" --tasks 6 'my runs'\n") {
			t.Errorf("%s: no line that shows where the runs stand in\n%s", format, out)
		}
	}
	out := clitest.Must(t, 0, line+"slurm --task auto/2 --jobs 3")
	for _, want := range []string{"#SBATCH --array=1-2\n", "#SBATCH --cpus-per-task=3\n", "#SBATCH --time=0-00:15:00\n", " --jobs 3 --task auto/2 --threads \"${SLURM_CPUS_PER_TASK:-3}\"\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	var doc printed.Script
	err := json.Unmarshal([]byte(clitest.Must(t, 0, line+"make --json")), &doc)
	if err != nil || doc.Runs != 6 || doc.Tasks != 6 || doc.Seconds <= 0 || doc.Memory <= 0 || !strings.Contains(doc.Script, "--task $*/6") {
		t.Errorf("the document is %+v", doc)
	}
	out = clitest.Must(t, 0, line+"mpijob --set train.shards=2")
	for _, want := range []string{`command: ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", "2", "tercet-native", "train", "--config", "tiny.yaml",`, "      replicas: 2\n", `"--ranks", "mpi", "--threads", "2"]`, "# 6 runs in 1 task"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	clitest.Unchanged(t, ".", before, nil)
	for _, tc := range []struct{ line, want string }{
		{line + "slrm", `--emit is "slrm"; formats: slurm, kubernetes`},
		{line + "slurm --task 2/4", "give auto/n"},
		{line + "slurm --task auto/0", `"auto/0" is neither`},
		{line + "slurm --task auto/1000000000000000", "at most 1000000 tasks"},
		{line + "slurm --dry-run", "cannot be combined"},
		{line + "mpijob", "train.shards is 1"},
		{line + "mpijob --jobs 2", "leave out --task and --jobs"},
		{line + "slurm --set 'name=\"a\\nb\"'", "name"},
	} {
		clitest.Refuse(t, base.ExitUsage, tc.line, tc.want)
	}
	clitest.Unchanged(t, ".", before, nil)
}
