package commands_test

import (
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// An early stop ends with a line that says why, and a run does not begin where nothing
// says which images may stop it.
func TestEarlyStopOnTheCommandLine(t *testing.T) {
	clitest.InTiny(t)
	const stop = "train -c tiny.yaml --set train.epochs=40 --set 'train.early_stop={metric: retrieval.recall@1, patience: 1}'"
	clitest.Refuse(t, base.ExitUsage, stop, "train.early_stop: there are no validation images to stop by: set data.split.validation, such as 0.1, to hold some out (two classes or more where test classes are not trained on), or train.early_stop.on: test")
	clitest.Refuse(t, base.ExitUsage, stop+" --dry-run", "train.early_stop.on: test")
	if _, ok := clitest.Snapshot(t, ".")["runs/tiny/config.yaml"]; ok {
		t.Error("a refused run has a directory")
	}
	code, _, stderr := clitest.Run(clitest.ShellWords(stop + " --set train.early_stop.on=test")...)
	if code != 0 || !strings.Contains(stderr, "runs/tiny: stopped early at step ") || !strings.Contains(stderr, " of 360: recall@1 on test images has not improved for 1 evaluation\n") {
		t.Errorf("%d: %s", code, stderr)
	}
	if strings.Contains(stderr, " left\n") || strings.Contains(stderr, "held-out") || !strings.Contains(stderr, "on test images") {
		t.Error(stderr)
	}
	if _, _, stderr := clitest.Run(clitest.ShellWords("eval --run runs/tiny")...); !strings.Contains(stderr, "runs/tiny stopped early at step ") || !strings.Contains(stderr, "; --checkpoint best uses it\n") {
		t.Error(stderr)
	}
	if _, _, stderr := clitest.Run(clitest.ShellWords("eval --run runs/tiny --no-pictures --checkpoint best")...); strings.Contains(stderr, "takes it") || !strings.Contains(stderr, "warning: the best checkpoint was chosen on test images, so these test scores are too good\n") {
		t.Error(stderr)
	}
	for _, format := range []string{"text", "markdown", "csv", "json"} {
		for checkpoint, want := range map[string]string{"last": "stopping step chosen on test images", "best": "best checkpoint chosen on test images"} {
			if out := clitest.Must(t, 0, "eval --run runs/tiny --no-kmeans --no-baselines --force --no-pictures --checkpoint "+checkpoint+" --format "+format); !strings.Contains(out, want) {
				t.Errorf("eval, %s, %s: %s", checkpoint, format, out)
			}
		}
		if out := clitest.Must(t, 0, "eval --run runs/tiny --split train --no-kmeans --no-baselines --force --no-pictures --format "+format); strings.Contains(out, "chosen on test images") {
			t.Errorf("training images: %s", out)
		}
	}
	if svg, err := os.ReadFile("runs/tiny/figures/training.svg"); err != nil || !strings.Contains(string(svg), ">score, test images<") || strings.Contains(string(svg), "held-out") {
		t.Errorf("the picture does not say of which images scores are: %v", err)
	}
	for format, want := range map[string]string{"text": "the stopping step was chosen on test images", "csv": "stopping step chosen on test images", "json": "stopping step chosen on test images"} {
		if out := clitest.Must(t, 0, "report runs/tiny --format "+format); !strings.Contains(out, want) {
			t.Errorf("%s: %s", format, out)
		}
	}
	if out := clitest.Must(t, 0, "report runs/tiny --json"); !strings.Contains(out, `"stopped": "recall@1 on test images`) || !strings.Contains(out, `"selection": "stopping step chosen on test images"`) {
		t.Error(out)
	}
}
