package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/study"
	"tercet/internal/testutil"
	"tercet/studies"
)

// paper is a file of studies/papers: what a paper states, and what became of it here.
type paper struct {
	Title string `yaml:"title"`
	Page  string `yaml:"page"`
	Items []struct {
		Item   string `yaml:"item"`
		Paper  string `yaml:"paper"`
		Here   string `yaml:"here"`
		Make   string `yaml:"make"` // a command line, without tercet
		Kept   string `yaml:"kept"` // a file of results/tables
		Status string `yaml:"status"`
		Why    string `yaml:"why"`
		Full   string `yaml:"full"` // the command line at the paper's size
		Cost   string `yaml:"cost"` // and its time on one core, estimated
	} `yaml:"items"`
}

// statuses are what an item can be, in the order of the summary. Those that need a reason
// are not at the paper's setting.
var statuses = []struct {
	name  string
	needs bool
}{
	{"reproduced", false}, {"computed", false}, {"smaller", true}, {"other data", true}, {"part", true},
	{"not run", false}, {"not available", true}, {"nothing to run", false},
}

var papersBlock = regexp.MustCompile(`(?s)<!-- papers -->\n.*<!-- end -->\n`)

// TestPapersPageGolden holds the tables of docs/papers.md against studies/papers: each command is
// one that tercet takes, each step and each kept file is there.
func TestPapersPageGolden(t *testing.T) {
	var out, summary strings.Builder
	files, err := filepath.Glob("../../studies/papers/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("papers: %v %v", files, err)
	}
	summary.WriteString("<!-- papers -->\n| paper |")
	for _, s := range statuses {
		summary.WriteString(" " + s.name + " |")
	}
	summary.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(statuses)) + "\n")
	for _, file := range files {
		p := readPaper(t, file)
		count := map[string]int{}
		fmt.Fprintf(&out, "\n### %s\n\n", p.Title)
		out.WriteString("| item | paper | here | status | command | kept |\n| --- | --- | --- | --- | --- | --- |\n")
		for _, i := range p.Items {
			count[i.Status]++
			checkItem(t, file, i.Item, i.Make, i.Kept, i.Status, i.Why)
			checkFull(t, file, i.Item, i.Full, i.Cost, i.Status)
			status, command, kept := i.Status, "", ""
			if i.Why != "" {
				status += ": " + i.Why
			}
			if i.Make != "" {
				command = "`" + i.Make + "`"
			}
			if i.Full != "" {
				command = strings.TrimPrefix(command+"; the paper's size, "+i.Cost+": `"+i.Full+"`", "; ")
			}
			if i.Kept != "" {
				kept = fmt.Sprintf("[csv](../results/tables/%s)", i.Kept)
			}
			for _, cell := range []string{i.Item, i.Paper, i.Here, status} {
				if len(strings.Fields(cell)) > 25 || strings.Contains(cell, "|") {
					t.Errorf("%s: a cell of more than 25 words, or with a bar: %s", file, cell)
				}
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s |\n", i.Item, i.Paper, i.Here, status, command, kept)
		}
		page, _ := strings.CutPrefix(p.Page, "docs/")
		fmt.Fprintf(&summary, "| [%s](%s) |", p.Title, page)
		for _, s := range statuses {
			fmt.Fprintf(&summary, " %d |", count[s.name])
		}
		summary.WriteString("\n")
	}
	summary.WriteString(out.String() + "<!-- end -->\n")

	const path = "../../docs/papers.md"
	text, err := os.ReadFile(path)
	if err != nil || len(papersBlock.FindAll(text, -1)) != 1 {
		t.Fatalf("%s has no one block between <!-- papers --> and <!-- end --> (%v)", path, err)
	}
	testutil.Golden(t, path, papersBlock.ReplaceAllLiteral(text, []byte(summary.String())))
}

func readPaper(t *testing.T, file string) paper {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p paper
	if err := config.ReadDocument(text, file, &p); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("../..", p.Page)); err != nil {
		t.Errorf("%s: %v", file, err)
	}
	return p
}

func checkItem(t *testing.T, file, item, command, kept, status, why string) {
	t.Helper()
	at := slices.IndexFunc(statuses, func(s struct {
		name  string
		needs bool
	}) bool {
		return s.name == status
	})
	switch {
	case at < 0:
		t.Errorf("%s: %s: there is no status %q", file, item, status)
	case statuses[at].needs && why == "":
		t.Errorf("%s: %s: %s needs a reason (why)", file, item, status)
	}
	if kept != "" {
		if _, err := os.Stat(filepath.Join("../../results/tables", kept)); err != nil {
			t.Errorf("%s: %s: %v", file, item, err)
		}
	}
	if command != "" {
		checkCommand(t, file, item, command)
	}
}

// checkFull holds an item that is below the paper's size to a command at that size and its
// estimated cost.
func checkFull(t *testing.T, file, item, command, cost, status string) {
	t.Helper()
	below := slices.Contains([]string{"smaller", "other data", "part", "not run", "not available"}, status)
	if below != (command != "") || below != (cost != "") {
		t.Errorf("%s: %s: %s: command at the paper's size %q, cost %q", file, item, status, command, cost)
	}
	if command != "" {
		checkCommand(t, file, item, command)
	}
}

// checkCommand says that tercet takes a command line, and that its configs and steps are there.
func checkCommand(t *testing.T, file, item, command string) {
	t.Helper()
	words := strings.Fields(command)
	cmd, args, err := tree().Find(words)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err != nil {
		t.Errorf("%s: %s: %s: %v", file, item, command, err)
		return
	}
	for i, w := range words {
		if strings.HasPrefix(w, "configs/") {
			if _, err := os.Stat(filepath.Join("../..", w)); err != nil {
				t.Errorf("%s: %s: %v", file, item, err)
			}
		}
		if i == 2 && strings.HasPrefix(command, "study run ") {
			checkSteps(t, file, item, w, cmd.Flags().Args()[1:])
		}
	}
}

func checkSteps(t *testing.T, file, item, name string, steps []string) {
	t.Helper()
	text, path, ok := studies.All.Read(name)
	if !ok {
		t.Errorf("%s: %s: there is no study %s", file, item, name)
		return
	}
	spec, err := study.Read(text, path, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if !slices.Contains(spec.StepNames(), s) {
			t.Errorf("%s: %s: study %s has no step %s", file, item, name, s)
		}
	}
}
