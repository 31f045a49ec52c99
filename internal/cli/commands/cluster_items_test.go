package commands

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/record"
)

// The places of images on a page's map have the classes and clusters that other files have.
func TestClusterItems(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train tiny.yaml -q")
	clitest.Must(t, 0, "cluster runs/tiny -q")
	clitest.Must(t, 0, "eval runs/tiny -q --save-embeddings x.npy")
	rows := func(path string) [][]string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	c, err := record.ReadIfThere[record.Cluster]("runs/tiny/cluster.json")
	if err != nil || c == nil {
		t.Fatal(err)
	}
	items, of := rows("runs/tiny/figures/items.csv"), rows("x.items.csv")
	class := -1
	for i, name := range of[0] {
		if name == "class" {
			class = i
		}
	}
	if len(items) != len(of) || len(items) != len(c.Labels)+1 || class < 0 {
		t.Fatalf("%d and %d rows of %d items, %v", len(items), len(of), len(c.Labels), of[0])
	}
	for i, row := range items[1:] {
		if row[0] != strconv.Itoa(i) || row[1] != of[i+1][class] || row[2] != strconv.Itoa(int(c.Labels[i])) {
			t.Errorf("%v, want class %s and cluster %d", row, of[i+1][class], c.Labels[i])
		}
	}
	clitest.Must(t, 0, "report runs/tiny -q --page map.html")
	if b, err := os.ReadFile("map.html"); err != nil || strings.Count(string(b), "<circle ") != len(c.Labels) {
		t.Errorf("the page has not the %d items: %v", len(c.Labels), err)
	}
	clitest.Must(t, 0, "cluster runs/tiny -q --force --no-pictures")
	clitest.Must(t, 0, "report runs/tiny -q --page map.html")
	if b, err := os.ReadFile("map.html"); err != nil || strings.Contains(string(b), "<circle ") {
		t.Errorf("the map of a clustering that was replaced: %v", err)
	}
}
