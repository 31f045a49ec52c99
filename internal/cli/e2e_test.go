package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

func TestTrainEvalAttackCluster(t *testing.T) {
	clitest.InTiny(t)
	if out := clitest.Must(t, 0, "train -c tiny.yaml"); out != "runs/tiny\n" {
		t.Errorf("train prints %q", out)
	}
	before := clitest.Snapshot(t, "runs/tiny")
	for _, again := range []string{"train -c tiny.yaml", "train --resume runs/tiny", "train -c runs/tiny/config.yaml"} {
		if out := clitest.Must(t, 0, again); out != "runs/tiny\n" {
			t.Errorf("%s prints %q", again, out)
		}
	}
	clitest.Unchanged(t, "runs/tiny", before, nil)

	doc := clitest.Document(t, "train -c tiny.yaml")
	run := doc["runs"].([]any)[0].(map[string]any)
	if doc["schema"] != "tercet.train/1" || run["status"] != "finished" || run["steps"] != 18.0 {
		t.Errorf("train: %v", doc)
	}
	for _, tc := range []struct {
		line, schema, file string
		groups             []string
	}{
		{"eval --run runs/tiny", "tercet.eval/1", "eval.json", []string{"retrieval.recall@1", "retrieval.map@r", "clustering.nmi", "baselines.pixels", "baselines.untrained"}},
		{"attack --run runs/tiny --queries 8 --pgd-steps 3", "tercet.attack/2", "attack.json", []string{"scores.published.ES:D", "scores.fixed.ES:R", "clean.fixed.ES:R", "right_when_clean.fixed.scores.ES:R"}},
		{"cluster --run runs/tiny", "tercet.cluster/2", "cluster.json", []string{"clustering.nmi", "sizes", "labels", "objective"}},
	} {
		doc := clitest.Document(t, tc.line)
		if doc["schema"] != tc.schema {
			t.Errorf("%s: schema %v", tc.line, doc["schema"])
		}
		for _, path := range tc.groups {
			var at any = doc
			for _, key := range strings.Split(path, ".") {
				at = at.(map[string]any)[key]
			}
			if at == nil {
				t.Errorf("%s: no %s", tc.line, path)
			}
		}
		var stored map[string]any
		b, err := os.ReadFile(filepath.Join("runs/tiny", tc.file))
		if err == nil {
			err = json.Unmarshal(b, &stored)
		}
		if delete(stored, "digest"); record.Check(b) != nil {
			t.Errorf("%s: %v", tc.file, record.Check(b))
		}
		if d := cmp.Diff(doc, stored); err != nil || d != "" {
			t.Errorf("%s is not what was printed: %v %s", tc.file, err, d)
		}
		if table := clitest.Must(t, 0, tc.line); !strings.Contains(table, "runs/tiny") {
			t.Errorf("%s prints\n%s", tc.line, table)
		}
	}
	for _, name := range []string{"labels.npy", "figures/retrieval.png", "figures/pca.png"} {
		if info, err := os.Stat(filepath.Join("runs/tiny", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Embeddings that are exported have the scores of the run.
func TestEmbeddingsThereAndBack(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	a := clitest.Document(t, "eval --run runs/tiny --no-pictures")
	clitest.Must(t, 0, "eval --run runs/tiny --save-embeddings X.npy")
	b := clitest.Document(t, "eval --embeddings X.npy --labels X.labels.npy --bootstrap 100 --n-init 2")
	for _, group := range []string{"retrieval", "clustering"} {
		if d := cmp.Diff(a[group], b[group]); d != "" {
			t.Errorf("%s: %s", group, d)
		}
	}
	clitest.Document(t, "cluster --embeddings X.npy -k 4 --out-dir clusters")
	if _, err := os.Stat("clusters/cluster.json"); err != nil {
		t.Error(err)
	}
	clitest.Document(t, "cluster --embeddings X.npy --labels X.labels.npy")
}

func TestGates(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"eval --run runs/tiny --fail-under r@1=0 --fail-under nmi=0", 0, ""},
		{"eval --run runs/tiny --fail-under r@1=0 --fail-under map=1.01", 4, "gate not met: map is "},
		{"attack --run runs/tiny --queries 8 --pgd-steps 2 --fail-under ES:R=1.01", 4, "gate not met: ES:R is "},
		{"cluster --run runs/tiny --fail-under acc=1.01", 4, "gate not met: acc is "},
		{"eval --run runs/tiny --fail-under r@3=0.5", 2, `"recall@3" will not be measured`},
		{"eval --run runs/tiny --fail-under r@1", 2, "is not SCORE=LIMIT"},
		{"eval --run runs/tiny --fail-under r@1=nan", 2, "is not SCORE=LIMIT"},
		{"eval --run runs/tiny --fail-under =1", 2, "is not SCORE=LIMIT"},
	} {
		code, _, stderr := clitest.Run(strings.Fields(tc.line)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("tercet %s: %d %s", tc.line, code, stderr)
		}
	}
	// The result of a gate that was not met is there to be looked at.
	for _, name := range []string{"eval.json", "attack.json", "cluster.json"} {
		if _, err := os.Stat("runs/tiny/" + name); err != nil {
			t.Error(err)
		}
	}
}

func TestSweepsByShares(t *testing.T) {
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.epochs=1 --set 'sweep={seed: [0, 1, 2]}'"
	all := strings.Fields(clitest.Must(t, 0, line+" --list"))
	if len(all) != 3 {
		t.Fatalf("runs %v", all)
	}
	var got []string
	for _, task := range []string{"1/2", "2/2"} {
		got = append(got, strings.Fields(clitest.Must(t, 0, line+" --task "+task))...)
	}
	if d := cmp.Diff([]string{all[0], all[2], all[1]}, got); d != "" {
		t.Error(d)
	}
	for _, dir := range all {
		if _, err := os.Stat(dir + "/checkpoints/last.safetensors"); err != nil {
			t.Error(err)
		}
	}
	for _, task := range []string{"0/2", "3/2", "x", "1/2/3"} {
		clitest.Refuse(t, 2, line+" --task "+task, `task "`+task+`" is neither i/n`)
	}
}

// Elements 2 and 4 of an array that are submitted again run shares 2 and 4 of its n.
func TestSharesByTheSchedulersIndex(t *testing.T) {
	clitest.InTiny(t)
	const line = "train -c tiny.yaml --set 'sweep={seed: [0, 1, 2, 3]}' --list --task "
	for _, index := range []string{"2", "4"} {
		want := clitest.Must(t, 0, line+index+"/4")
		t.Setenv("SLURM_ARRAY_TASK_ID", index)
		t.Setenv("SLURM_ARRAY_TASK_COUNT", "2")
		if got := clitest.Must(t, 0, line+"auto/4"); got != want || len(strings.Fields(got)) != 1 {
			t.Errorf("element %s lists %q, want %q", index, got, want)
		}
	}
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	clitest.Refuse(t, 2, line+"auto/4", "SLURM_ARRAY_TASK_ID is 4 (task 4 of 4), JOB_COMPLETION_INDEX is 1 (task 2 of 4)")
}

func TestRunsThatAreLost(t *testing.T) {
	clitest.InTiny(t)
	diverge := "train -c tiny.yaml --set name=d --set optimizer.lr=1e30"
	clitest.Refuse(t, 5, diverge, "is not finite")
	for _, again := range []string{diverge, "train --resume runs/d"} {
		clitest.Refuse(t, 5, again, "this run has diverged before, and would do so again")
	}
	clitest.Refuse(t, 3, "attack --run runs/d", "the run has diverged and has no such weights: step ")
	clitest.Refuse(t, 5, "train -c tiny.yaml --set name=c --set train.epochs=4 --set 'train.collapse={enabled: true, window: 1, cosine: 1e-9, rank: 1000}'", "has collapsed at step")
	// Of a sweep, the others are trained; the code tells.
	code, out, _ := clitest.Run(clitest.ShellWords("train -c tiny.yaml --set 'sweep={optimizer.lr: [1e30, 1e-3]}'")...)
	if code != 5 || len(strings.Fields(out)) != 2 {
		t.Errorf("sweep: code %d, printed %q", code, out)
	}
	if _, err := os.Stat(strings.Fields(out)[1] + "/checkpoints/last.safetensors"); err != nil {
		t.Error(err)
	}
}
