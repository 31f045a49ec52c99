package commands_test

import (
	"bytes"
	"os"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// Tasks that share the starts of k-means end in the clusters of one process; what is missing
// or of other settings is not merged.
func TestClusterTasks(t *testing.T) {
	t.Chdir(t.TempDir())
	ring(t, "x.npy", "y.csv", 60, 5)
	const line = "cluster --embeddings x.npy --labels y.csv -k 7 --n-init 5 --seed 3 --map none"
	clitest.Document(t, line+" --out-dir one")
	clitest.Refuse(t, base.ExitData, line+" --out-dir many --merge", "no task results to merge")
	for _, task := range []string{"1/3", "3/3"} {
		doc := clitest.Document(t, line+" --out-dir many --task "+task)
		if doc["tasks"] != 3.0 || doc["schema"] != "tercet.cluster-task/1" {
			t.Errorf("task %s: %v", task, doc)
		}
	}
	clitest.Refuse(t, base.ExitData, line+" --out-dir many --merge", "lacks the parts of 1 task: run 2/3")
	clitest.Document(t, line+" --out-dir many --task 2/3")

	// A killed task continues with the start that was cut off.
	const part = "many/cluster.json.part-1-of-3"
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, part, string(whole[:len(whole)-5]))
	clitest.Refuse(t, base.ExitData, line+" --out-dir many --merge", "unfinished, 1 of 2 parts: run task 1/3 again")
	clitest.Document(t, line+" --out-dir many --task 1/3")
	if again, _ := os.ReadFile(part); !bytes.Equal(again, whole) {
		t.Error("the file of a task that was killed and run again differs")
	}

	clitest.Document(t, line+" --out-dir many --merge")
	if a, b := withoutTime(t, "one/cluster.json"), withoutTime(t, "many/cluster.json"); a != b {
		t.Errorf("one process:\n%s\ntasks:\n%s", a, b)
	}
	for _, name := range []string{"labels.npy", "clusters.safetensors"} {
		a, errA := os.ReadFile("one/" + name)
		b, errB := os.ReadFile("many/" + name)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v, %v)", name, errA, errB)
		}
	}

	clitest.Refuse(t, base.ExitUsage, line+" --seed 4 --out-dir many --task 1/3", "holds work of another computation (settings: ")
	for flags, want := range map[string]string{
		" --task 1/3":                                  "name its folder by --out-dir",
		" --out-dir d --task 1/6":                      "6 tasks for 5 starts",
		" --out-dir d --task 1/3 --mini-batch 20":      "nothing to share",
		" --out-dir d --task 1/3 --merge":              "cannot be combined",
		" --out-dir d --task 4/3":                      "neither i/n",
		" --out-dir d --task 1/3 --fail-under nmi=0.1": "add --merge",
		" --out-dir d --task 1/3 -k 2..4":              "nothing to share",
	} {
		clitest.Refuse(t, base.ExitUsage, line+flags, want)
	}
	clitest.Refuse(t, base.ExitUsage, "cluster --embeddings x.npy --method multicut --threshold 1 --out-dir d --task 1/2", "--task is for kmeans")
	if _, err := os.Stat("d"); err == nil {
		t.Error("a refused command made its folder")
	}
}
