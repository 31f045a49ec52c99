package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/datatest"
)

// TestProtocolsRunAsShown follows docs/protocols.md on small datasets, in each layout, from
// the check of the files to the row with the published numbers above it. A small network
// begins with weights that PyTorch wrote.
func TestProtocolsRunAsShown(t *testing.T) {
	weights, err := filepath.Abs("../weights/testdata/resnet18.pth")
	if err != nil {
		t.Fatal(err)
	}
	configs, err := filepath.Abs("../../configs")
	if err != nil {
		t.Fatal(err)
	}
	part := []string{"data.partial=true"}
	small := append(part, "model.name=resnet18", "model.width=2", "model.weights="+weights,
		`data.transform.test=["Resize(40)", CenterCrop(32)]`)
	training := append(slices.Clone(small), `data.transform.train=["RandomResizedCrop(32)", RandomHorizontalFlip]`, "train.epochs=6")
	batches := map[string][]string{"zhou-patel": {"batch.pairs=2"}, "proxy-anchor": {"batch.classes=2", "batch.per_class=2"}}
	adapt := func(words []string) []string {
		sets := []string{}
		switch words[1] {
		case "data":
			return append(words, "--partial")
		case "embed":
			sets = small
		case "train":
			sets = append(slices.Clone(training), batches[filepath.Base(filepath.Dir(words[2]))]...)
		}
		for _, s := range sets {
			words = append(words, "--set", s)
		}
		return words
	}
	same := append(datatest.Spread(1, 3, 9, 0, 0), datatest.Spread(101, 102, 0, 6, 0)...)
	products := append(datatest.Spread(1, 3, 9, 0, 0), datatest.Spread(11319, 11320, 0, 6, 0)...)
	items := append(datatest.Spread(1, 3, 9, 0, 0), datatest.Spread(4, 5, 0, 4, 4)...)
	tree := func(dir string, classes []datatest.Class) datatest.Tree {
		return datatest.Tree{T: t, Dir: dir, Classes: classes, Images: true}
	}
	for _, layout := range []struct {
		name     string
		begin    func()
		of       []string // datasets whose commands are run; nil: all
		commands int
		reports  int
	}{
		{"cub, cars A, sop, inshop", func() {
			tree("CUB_200_2011", same).CUB()
			tree("cars", same).Cars("A")
			tree("Stanford_Online_Products", products).SOP(false)
			tree("inshop", items).InShop()
		}, nil, 28, 4},
		{"cars B, sop with Info_Files", func() {
			tree("cars", same).Cars("B")
			tree("Stanford_Online_Products", products).SOP(true)
		}, []string{"cars", "Stanford", "sop"}, 14, 2},
		{"cars C", func() { tree("cars", same).Cars("C") }, []string{"cars"}, 6, 1},
	} {
		t.Run(layout.name, func(t *testing.T) {
			reports := 0
			follow(t, "protocols.md", layout.commands, func() {
				layout.begin()
				if err := os.Symlink(configs, "configs"); err != nil {
					t.Fatal(err)
				}
			}, func(words []string) []string {
				text := strings.Join(words, " ")
				if layout.of != nil && !slices.ContainsFunc(layout.of, func(d string) bool { return strings.Contains(text, d) }) {
					return nil
				}
				return adapt(words)
			}, func(line, out string) {
				switch {
				case strings.Contains(line, "report"):
					reports++
					checkPublished(t, line, out)
				case strings.Contains(line, "eval") && !strings.Contains(out, "recall@1"):
					t.Errorf("%s: no recall@1:\n%s", line, out)
				}
			})
			if reports != layout.reports {
				t.Errorf("%d reports, want %d", reports, layout.reports)
			}
		})
	}
}

// checkPublished wants the row of the published numbers and, below it, the mean of three runs.
func checkPublished(t *testing.T, line, out string) {
	t.Helper()
	recall := map[string]string{"zhou-patel-cub": "53.9", "zhou-patel-cars": "62.5", "zhou-patel-sop": "62.9", "proxy-anchor-inshop": "91.9"}
	for name, published := range recall {
		if !strings.Contains(line, name) {
			continue
		}
		at := strings.LastIndex(name, "-")
		rows := map[string]string{}
		for text := range strings.Lines(out) {
			if w := strings.Fields(strings.ReplaceAll(text, "│", " ")); len(w) > 4 && w[0] == name[:at] && w[2] == name[at+1:] {
				rows[w[1]] = strings.Join(w[3:], " ")
			}
		}
		if !strings.HasPrefix(rows["published"], "- "+published+" ") || !strings.HasPrefix(rows["ours"], "3 ") {
			t.Errorf("%s: no row of the published numbers and one of three runs of ours:\n%s", line, out)
		}
	}
}
