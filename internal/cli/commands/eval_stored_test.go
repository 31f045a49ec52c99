package commands_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Results of other images and weights stand alongside eval.json and do not replace it.
func TestResultsOfOtherImagesAreOtherFiles(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25")
	clitest.Must(t, 0, "eval --run runs/tiny")
	clitest.Must(t, 0, "cluster --run runs/tiny --map none")
	const attack = "attack --run runs/tiny --pgd-steps 1 --bootstrap 0 --queries 2 --examples 1"
	clitest.Must(t, 0, attack)
	before := clitest.Snapshot(t, "runs")
	for line, file := range map[string]string{
		"eval --run runs/tiny --split validation":                         "eval-validation.json",
		"eval --run runs/tiny --split train --no-baselines":               "eval-train.json",
		"eval --run runs/tiny --checkpoint best --no-kmeans":              "eval-best.json",
		"eval --run runs/tiny --checkpoint best --split train --limit 30": "eval-train-best.json",
		attack + " --split validation":                                    "attack-validation.json",
		"gap --run runs/tiny --triplets 200 --split validation":           "gap-validation.json",
		"cluster --run runs/tiny --split validation":                      "cluster-validation/cluster.json",
		"cluster --run runs/tiny --checkpoint best --split train":         "cluster-train-best/cluster.json",
	} {
		clitest.Must(t, 0, line)
		if _, ok := clitest.Snapshot(t, "runs/tiny")["runs/tiny/"+file]; !ok {
			t.Errorf("%s wrote no %s", line, file)
		}
	}
	after := clitest.Snapshot(t, "runs")
	for path, text := range before {
		if after[path] != text && !strings.HasSuffix(path, "training.png") {
			t.Errorf("%s has changed", path)
		}
	}
	for _, path := range []string{"figures-validation/retrieval.png", "figures-validation/attack.png", "cluster-validation/figures/pca.png"} {
		if _, ok := after["runs/tiny/"+path]; !ok {
			t.Errorf("no %s", path)
		}
	}
}

// A smaller evaluation does not replace a larger one, nor one of an older version that is
// of other images.
func TestKeepsTheLargerResult(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25")
	const eval = "eval --run runs/tiny --no-pictures"
	clitest.Must(t, 0, eval+" --no-kmeans --no-baselines --k 1") // has less
	clitest.Must(t, 0, eval)
	before := clitest.Snapshot(t, ".")
	for flags, want := range map[string]string{
		"--no-kmeans":                "replacing runs/tiny/eval.json would lose: the clustering scores; --out FILE writes elsewhere, --force replaces it",
		"--no-baselines --k 1,2":     "would lose: recall@4, recall@8; the baselines; --out",
		"--limit 10":                 "would lose: 36 images instead of 10; --out",
		"--bootstrap 0":              "would lose: intervals; --out",
		"--distance cosine --seed 3": "would lose: distance euclidean instead of cosine; seed 0 instead of 3; --out",
		"--n-init 1 --if-needed":     "would lose: 2 starts of k-means instead of 1; --out",
	} {
		clitest.Refuse(t, base.ExitUsage, eval+" "+flags, want)
	}
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, eval+" --no-kmeans --out a/quick.json")
	clitest.Must(t, 0, eval+" --pairs --k 1,2,4,8,16 --n-init 3") // has more
	clitest.Refuse(t, base.ExitUsage, eval+" --k 1,2,4,8,16 --n-init 3", "would lose: the scores of pairs; --out")
	clitest.Must(t, 0, eval+" --no-kmeans --force")
	if d, _ := record.ReadKept[record.Eval]("a/quick.json"); d == nil || d.Clustering != nil {
		t.Errorf("%+v", d)
	}
	clitest.Must(t, 0, eval+" --per-query --force")
	before = clitest.Snapshot(t, ".")
	for _, less := range []string{"", "--no-kmeans", "--no-baselines", "--k 2,1 --bootstrap 0"} {
		if _, _, notes := clitest.Run(clitest.ShellWords(eval + " --if-needed " + less)...); !strings.Contains(notes, "runs/tiny/eval.json is up to date") {
			t.Errorf("with the values of each query: %q: %s", less, notes)
		}
	}
	clitest.Unchanged(t, ".", before, nil)
	clitest.Refuse(t, base.ExitUsage, eval+" --out a", "give the file to write, such as a/eval.json")
	clitest.Refuse(t, base.ExitUsage, eval+" --force --if-needed", "cannot be combined")

	clitest.Must(t, 0, eval+" --split validation --out runs/tiny/eval.json --force") // as older versions did
	clitest.Refuse(t, base.ExitUsage, eval, "would lose: the result of the validation images, checkpoint last of step 12 (its name is that of another result; rename it to eval-validation.json to keep it); --out FILE writes elsewhere")
}

// So it is with clusterings and with noise.json.
func TestClusterKeepsTheLargerResult(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "cluster --run runs/tiny --map none")
	clitest.Must(t, 0, "cluster --run runs/tiny --map pca --n-init 3")
	before := clitest.Snapshot(t, ".")
	for flags, want := range map[string]string{
		"--n-init 3 --map tsne":            "replacing runs/tiny/cluster.json would lose: maps pca instead of tsne; --out-dir FOLDER writes elsewhere, --force replaces it",
		"--n-init 3 --map none":            "would lose: the maps; --out",
		"--map both":                       "would lose: 3 starts of k-means instead of 2; --out",
		"--n-init 3 --map both -k 4":       "would lose: k by the number of classes instead of 4; --out",
		"-k 500":                           "500 clusters of 36 items: -k can be at most their number",
		"-k 11 --limit 10":                 "11 clusters of 10 items",
		"--n-init 3 --map both --limit 20": "would lose: 36 images instead of 20; --out",
		"--method hdbscan":                 "would lose: method kmeans instead of hdbscan; --out",
		"--n-init 3 --map pca --spherical": "would lose: kmeans.spherical none instead of true; --out",
	} {
		clitest.Refuse(t, base.ExitUsage, "cluster --run runs/tiny "+flags, want)
	}
	clitest.Unchanged(t, ".", before, nil)
	clitest.Must(t, 0, "cluster --run runs/tiny --n-init 3 --map both")
	clitest.Must(t, 0, "cluster --run runs/tiny --method hdbscan --out-dir other")
	clitest.Must(t, 0, "cluster --run runs/tiny --method hdbscan --force")
}

// What a damaged result, or one of another version, holds cannot be told, so nothing
// takes its place without --force.
func TestUnreadableResultsAreKept(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	for content, want := range map[string]string{
		`{"schema": "tercet.eval/9"}`: `would lose: a document of schema "tercet.eval/9"; this version reads tercet.eval/1; --out`,
		`{"schema": "tercet.eval/1"`:  "would lose: a file that cannot be read: ",
	} {
		if err := os.WriteFile("runs/tiny/eval.json", []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		before := clitest.Snapshot(t, ".")
		clitest.Refuse(t, base.ExitUsage, "eval --run runs/tiny --no-pictures", want)
		clitest.Refuse(t, base.ExitUsage, "eval --run runs/tiny --no-pictures --if-needed", want)
		clitest.Unchanged(t, ".", before, nil)
	}
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures --force")
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures")
}

// A picture of all images does not stay beside scores of a part of them.
func TestNoPictureOfOtherImages(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml -q")
	const picture = "runs/tiny/figures/retrieval.png"
	for _, c := range []struct {
		flags string
		stays bool
	}{{"", true}, {" --force --no-pictures", true}, {" --force --no-pictures --limit 8", false}} {
		clitest.Must(t, 0, "eval --run runs/tiny --no-kmeans --no-baselines --bootstrap 0"+c.flags)
		if _, err := os.Stat(picture); (err == nil) != c.stays {
			t.Errorf("eval%s: %v", c.flags, err)
		}
	}
}
