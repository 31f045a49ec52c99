package commands_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/data/npy"
)

// The weights of a run, named in a config, embed as the run does; those of PyTorch are
// taken whole or not at all.
func TestPretrained(t *testing.T) {
	torch, err := filepath.Abs("../../weights/testdata/resnet18.pth")
	if err != nil {
		t.Fatal(err)
	}
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml -q")
	clitest.ClassFolders(t, "photos", 3, 4)
	clitest.Must(t, 0, "embed --run runs/tiny --out a")
	config := "embed --config tiny.yaml --set model.weights=runs/tiny/checkpoints/last.safetensors"
	d := clitest.Document(t, config+" --out b")
	if read(t, "a/embeddings.npy") != read(t, "b/embeddings.npy") || read(t, "a/items.csv") != read(t, "b/items.csv") {
		t.Error("weights by a config are not those of their run")
	}
	if s := d["start"].(map[string]any); s["format"] != "checkpoint" || s["sha256"] != d["network"].(map[string]any)["weights_sha256"] {
		t.Errorf("start: %v", s)
	}
	clitest.Refuse(t, base.ExitUsage, config+" --set model.normalize=false --out b", "b holds embeddings of other images, weights or options")

	clitest.WriteFile(t, "backbone.yaml", "data: {name: folder, root: photos, transform: {test: [Resize(40), CenterCrop(32)]}}\n"+
		"model: {name: resnet18, width: 2, head: none, embedding: 0, mean_std: imagenet, normalize: false, weights: "+torch+"}\neval: {ks: [1]}\n")
	d = clitest.Document(t, "embed --config backbone.yaml photos --out c")
	if n := d["network"].(map[string]any); n["dim"] != 16. || n["weights"] != torch || !strings.Contains(d["config"].(string), "resnet18.pth") {
		t.Errorf("the network: %v", n)
	}
	if out := clitest.Must(t, 0, "eval --embeddings c --no-kmeans --bootstrap 0"); !strings.Contains(out, "recall@1") {
		t.Errorf("eval: %s", out)
	}
	// The image in the folder finds itself, by the network made again from embed.json.
	if out := clitest.Must(t, 0, "search --gallery c photos/class-1/2.png -k 1"); !strings.Contains(out, "class-1/2.png") {
		t.Errorf("search: %s", out)
	}
	header(t, "c/embeddings.npy", "(12, 16)")
	clitest.WriteFile(t, "photos/class-0/9.png", "no image")
	clitest.Refuse(t, base.ExitData, "embed --config backbone.yaml --set data.split.kind=fraction --out d", "class-0/9.png: unreadable image")
	d = clitest.Document(t, "embed --config backbone.yaml --set data.split.kind=fraction --skip-broken --out d")
	if b := d["broken"].([]any); len(b) != 1 || !strings.Contains(b[0].(map[string]any)["path"].(string), "class-0/9.png") {
		t.Errorf("left out: %v", b)
	}
	for line, want := range map[string]string{
		"embed --config backbone.yaml --set model.head=linear photos --out e": "model.weights: " + torch + " has not all of the network",
		"embed --config tiny.yaml --out e":                                    "model.weights: name the file of the weights",
		"embed --config backbone.yaml --run runs/tiny --out e":                "--config and --run cannot be combined",
		"embed --run runs/tiny --set seed=3 --out e":                          "--set: changes keys of --config",
		"embed --run runs/tiny --skip-broken --out e":                         "--skip-broken: changes keys of --config",
		"embed --config backbone.yaml --checkpoint best --out e":              "--checkpoint is of a run",
		"embed --config backbone.yaml photos --split train --out e":           "--split is of the own images of the run or config",
	} {
		clitest.Refuse(t, base.ExitUsage, line, want)
	}
}

func header(t *testing.T, path, shape string) {
	t.Helper()
	b, err := os.ReadFile(path)
	var want bytes.Buffer
	if err == nil {
		err = npy.WriteHeader(&want, "<f4", 12, 16)
	}
	if err != nil || !bytes.HasPrefix(b, want.Bytes()) {
		t.Errorf("%s is not %s: %v", path, shape, err)
	}
}
