package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
)

// fewerSeeds is the row of the run photos with a score of one seed.
var fewerSeeds = regexp.MustCompile(`(?m)^\S* ?photos .*\(n=`)

// TestYourImagesRunsAsShown runs every command of docs/your-images.md, in its order,
// on a folder of images.
func TestYourImagesRunsAsShown(t *testing.T) {
	text, err := os.ReadFile("../../docs/your-images.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	clitest.ClassFolders(t, "photos", 12, 6)
	ran, shell := 0, false
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			shell = line == "```sh"
		case shell:
			words := clitest.ShellWords(line)
			if len(words) == 0 || words[0] != "tercet" {
				t.Fatalf("a command begins with tercet: %s", line)
			}
			code, out, stderr := clitest.Run(words[1:]...)
			if code != 0 || out == "" {
				t.Fatalf("%s: exit code %d, printed %q\n%s", line, code, out, stderr)
			}
			if strings.Contains(line, "report --runs 'runs/*'") && fewerSeeds.MatchString(out) {
				t.Errorf("%s: not all four seeds are in the mean:\n%s", line, out)
			}
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands were found", ran)
	}
	for _, name := range []string{"photos.yaml", "photos.png", "report.html", "runs/photos/eval.json", "runs/photos-seed-3/eval.json", "photos.npy", "photos.items.csv"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
