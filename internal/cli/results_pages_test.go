package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
)

// markdownRows are the cells of a table that report prints; its first row are the columns.
func markdownRows(t *testing.T, args ...string) [][]string {
	t.Helper()
	code, out, stderr := clitest.Run(append([]string{"report", "--format", "markdown"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: %d %s", args, code, stderr)
	}
	var rows [][]string
	for line := range strings.Lines(out) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 3 || strings.HasPrefix(strings.TrimSpace(cells[0]), ":-") || strings.HasPrefix(strings.TrimSpace(cells[0]), "-") && strings.HasSuffix(cells[0], ":") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		t.Fatalf("%v: no rows in\n%s", args, out)
	}
	return rows
}

func quoted(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("docs", "papers", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The rows that the page on hardness manipulation quotes are those that report makes from
// the documents that are kept.
func TestPageQuotesDefenses(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text := page(t, "hardness-manipulation.md")
	for _, q := range []struct {
		args []string
		drop []string // columns that the page leaves out
	}{
		{[]string{"--table", "mnist", "--variant", "both", "results/hardness.zip/mnist10k-*"}, []string{"data", "R@2", "ERS of the ten"}},
		{[]string{"--table", "mnist", "--variant", "both", "results/hardness.zip/mnist60k-*"}, []string{"data", "n", "R@2", "ERS of the ten"}},
		{[]string{"--table", "hm-grid", "--grid", "R@1,ERS", "--variant", "both", "results/hardness.zip/small-hm-grid-*"}, nil},
	} {
		rows := markdownRows(t, q.args...)
		for _, row := range rows {
			var cells []string
			for i, c := range row {
				if !slices.Contains(q.drop, rows[0][i]) {
					cells = append(cells, c)
				}
			}
			line := quoted(cells)
			if strings.Contains(q.args[1], "mnist") { // the numbers are not of the paper
				line = strings.Replace(line, "| paper |", "| robrank |", 1)
			}
			// A row of numbers from elsewhere is quoted with one of ours.
			ours := slices.ContainsFunc(rows, func(r []string) bool {
				return r[0] == row[0] && slices.ContainsFunc(r, func(c string) bool { return strings.HasPrefix(c, "ours") })
			})
			if ours && !strings.Contains(text, line) {
				t.Errorf("%v: the page lacks %s", q.args, line)
			}
		}
	}
}

// The tables of the clustering page are pivots of the table clustering.
func TestPageQuotesClusterings(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	text := page(t, "triplet-losses-for-clustering.md")
	rows := markdownRows(t, "--table", "clustering", "results/clustering.zip/clustering-*-l[123]-*")
	at := func(name string) int {
		i := slices.Index(rows[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %v", name, rows[0])
		}
		return i
	}
	columns := [][2]string{{"kmeans", "L1"}, {"kmeans", "L2"}, {"kmeans", "L3"}, {"multicut-margins", "L2"}, {"multicut-margins", "L3"}, {"multicut-fit", "L1"}, {"multicut-fit", "L2"}, {"multicut-fit", "L3"}}
	for _, data := range []string{"mnist", "cifar10"} {
		for _, noise := range []string{"0", "0.1", "0.2", "0.3", "0.4", "0.5"} {
			for _, score := range []string{"nmi", "acc"} {
				cells := []string{noise}
				for _, c := range columns {
					i := slices.IndexFunc(rows, func(r []string) bool {
						return r[at("data")] == data && r[at("noise")] == noise && r[at("method")] == c[0] && r[at("loss")] == c[1]
					})
					if i < 0 {
						t.Fatalf("no row %s %s %v", data, noise, c)
					}
					cells = append(cells, rows[i][at(score)])
				}
				if line := quoted(cells); !strings.Contains(text, line) {
					t.Errorf("%s, %s: the page lacks %s", data, score, line)
				}
			}
		}
	}
}
