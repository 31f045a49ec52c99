package cli_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
)

// fewerSeeds is the row of the run photos with a score of one seed.
var fewerSeeds = regexp.MustCompile(`(?m)^\S* ?photos .*\(n=`)

// follow runs every command of a page in its order, in an empty folder, after begin. A block
// of yaml is saved under the name in its first line, as the page says. adapt changes the words
// of a command, or returns none to leave it out.
func follow(t *testing.T, page string, least int, begin func(), adapt func(words []string) []string, check func(line, out string)) {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	begin()
	ran, block, file := 0, "", ""
	for _, line := range strings.Split(string(text), "\n") {
		switch kind, fence := strings.CutPrefix(line, "```"); {
		case fence && block == "yaml":
			name, rest, _ := strings.Cut(strings.TrimPrefix(file, "# "), "\n")
			clitest.WriteFile(t, name, rest)
			block, file = "", ""
		case fence:
			block = kind
		case block == "yaml":
			file += line + "\n"
		case block == "sh":
			words := clitest.ShellWords(line)
			if len(words) == 0 || words[0] != "tercet" {
				t.Fatalf("a command begins with tercet: %s", line)
			}
			if words = adapt(words); words == nil {
				continue
			}
			code, out, stderr := clitest.Run(words[1:]...)
			if code != 0 || out == "" {
				t.Fatalf("%s: exit code %d, printed %q\n%s", line, code, out, stderr)
			}
			check(line, out)
			ran++
		}
	}
	if ran < least {
		t.Errorf("only %d commands were found", ran)
	}
}

// briefly trains for two epochs, which is all that a page's other commands need.
func briefly(words []string) []string {
	if words[1] == "train" {
		return slices.Insert(words, 2, "--set", "train.epochs=2")
	}
	return words
}

// there fails where one of the files is missing.
func there(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// TestYourImagesRunsAsShown follows docs/your-images.md on a folder of images.
func TestYourImagesRunsAsShown(t *testing.T) {
	follow(t, "your-images.md", 20, func() { clitest.ClassFolders(t, "photos", 12, 6) }, briefly, func(line, out string) {
		if strings.Contains(line, "report --runs 'runs/*'") && fewerSeeds.MatchString(out) {
			t.Errorf("%s: not all four seeds are averaged:\n%s", line, out)
		}
	})
	there(t, "photos.yaml", "photos.png", "report.html", "runs/photos/eval.json", "runs/photos-seed-3/eval.json", "photos.npy", "photos.items.csv")
}

// TestTutorialRunsAsShown follows docs/tutorial.md, which needs no files.
func TestTutorialRunsAsShown(t *testing.T) {
	follow(t, "tutorial.md", 12, func() {}, briefly, func(line, out string) {
		if strings.Contains(line, "tercet compare") && !strings.Contains(out, "recall@1") {
			t.Errorf("%s: no comparison by recall@1:\n%s", line, out)
		}
	})
	there(t, "small.yaml", "small.html", "runs/small/eval.json", "runs/small/attack.json", "runs/contrastive/eval.json")
}
