package cli_test

import (
	"strings"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// TestHoldOutHints: "set data.split.validation, such as 0.1" led to messages that named
// neither batch.classes nor a share that works.
func TestHoldOutHints(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.ClassFolders(t, "photos", 12, 4)
	out := clitest.Must(t, 0, "config init folder photos --out photos.yaml")
	if strings.Contains(out, "validation: 0 ") {
		t.Errorf("nothing is held out of 6 classes:\n%s", out)
	}
	clitest.Must(t, 0, "train photos.yaml -q --set train.epochs=0 --set train.steps=1")
	const one = "train photos.yaml --set name=bad --set data.split.validation=0.1 "
	clitest.Refuse(t, base.ExitData, one+"--set batch.classes=6", "the keys are batch.classes and batch.per_class; data.split.validation holds out images of 1 class")
	clitest.Refuse(t, base.ExitData, one+"--set batch.classes=4", "set it to 0.26 or more for two of 6")
	clitest.Must(t, 0, "train photos.yaml -q --set train.epochs=0 --set train.steps=1 --set data.split.validation=0.26 --set name=other")

	clitest.ClassFolders(t, "few", 8, 4)
	out = clitest.Must(t, 0, "config init folder few")
	if want := "validation: 0             # 4 classes to train on are too few to hold out two: test images pick the best checkpoint"; !strings.Contains(out, want) {
		t.Errorf("no line %q in\n%s", want, out)
	}
}
