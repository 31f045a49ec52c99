package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// From files to a folder, to a search, an evaluation and a clustering of it.
func TestSearch(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml -q")
	clitest.ClassFolders(t, "photos", 4, 4)
	clitest.Must(t, 0, "embed --run runs/tiny photos --out v")
	clitest.Must(t, 0, "embed --run runs/tiny photos --labels none --out bare")
	clitest.Must(t, 0, "search --gallery v --queries v -k 3 --exclude self --out found.csv --montage found.png")
	text, err := os.ReadFile("found.csv")
	if err != nil || strings.Count(string(text), "\n") != 1+16*3 {
		t.Errorf("found.csv: %v\n%s", err, text)
	}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if f := strings.Split(line, ","); len(f) > 4 && f[1] == f[4] {
			t.Errorf("an image found itself: %s", line)
		}
	}
	if info, err := os.Stat("found.png"); err != nil || info.Size() < 1000 {
		t.Error("no montage")
	}
	d := clitest.Document(t, "search --gallery v photos/class-1/2.png -k 1")
	found := d["found"].([]any)[0].(map[string]any)
	if found["path"] != "class-1/2.png" || found["distance"].(float64) != 0 {
		t.Errorf("%v", d)
	}
	clitest.Must(t, 0, "search --gallery v --queries bare -k 20 --max-distance 0.5 --out arrays")
	if out := clitest.Must(t, 0, "search --gallery v --queries v -k 2 --out found.jsonl --format csv"); out != "queries,gallery,found\n16,16,32\n" {
		t.Errorf("a search with --out prints %q", out)
	}
	clitest.Must(t, 0, "eval --embeddings v --k 1,2 --bootstrap 0")
	clitest.Must(t, 0, "cluster --embeddings bare --method kmeans --clusters 3 --no-pictures")
	clitest.WriteFile(t, "seq.csv", "path,label,sequence\nphotos/class-0/0.png,a,s\nphotos/class-0/1.png,a,s\nphotos/class-0/2.png,a,\nphotos/class-1/0.png,b,\nphotos/class-1/1.png,b,\n")
	clitest.Must(t, 0, "embed --run runs/tiny seq.csv --out seq")
	if d := clitest.Document(t, "eval --embeddings seq --k 1 --bootstrap 0 --no-kmeans"); d["retrieval"].(map[string]any)["recall@1(position-masked)"] != nil {
		t.Errorf("sequences are not regarded: %v", d)
	}
	before := clitest.Snapshot(t, ".")
	clitest.Refuse(t, base.ExitUsage, "search --gallery v --queries bare --out bare/items.csv", "--out bare/items.csv is what the command reads")
	clitest.Refuse(t, base.ExitUsage, "search --gallery v photos/class-1/2.png --montage photos/class-1/2.png", "--montage photos/class-1/2.png is what the command reads")
	clitest.Unchanged(t, ".", before, nil)
	clitest.Refuse(t, base.ExitData, "eval --embeddings bare", "not every image of bare has a label")
	clitest.Refuse(t, base.ExitData, "search --gallery photos --queries v", "photos has no embed.json")
	clitest.Must(t, 0, "train tiny.yaml -q --set name=other --set seed=5")
	clitest.Must(t, 0, "embed --run runs/other photos --out o")
	clitest.Refuse(t, base.ExitData, "search --gallery v --queries o", "not of one network")
	clitest.Must(t, 0, "search --gallery v --queries o --any-network")
	for line, want := range map[string]string{
		"search --queries v":                             "name what to search",
		"search --gallery v":                             "name what to search for",
		"search --gallery v --queries v photos":          "and not both",
		"search --gallery v --queries v --exclude class": `--exclude is "class"`,
		"search --gallery v --queries v --out x.txt":     "ends in .csv or .jsonl",
		"search --gallery v --queries v --montage x.jpg": "ends in .png",
		"search --gallery v --queries v -k 0":            "--k is 0",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
}
