package cli

import (
	"strings"
	"testing"
)

// TestHoldOutHints: "set data.split.validation, such as 0.1" led to messages that named
// neither batch.classes nor a share that works.
func TestHoldOutHints(t *testing.T) {
	t.Chdir(t.TempDir())
	classFolders(t, "photos", 12, 4)
	out := must(t, 0, "config init folder photos --out photos.yaml")
	if strings.Contains(out, "validation: 0 ") {
		t.Errorf("nothing is held out of 6 classes:\n%s", out)
	}
	must(t, 0, "train photos.yaml -q --set train.epochs=0 --set train.steps=1")
	const one = "train photos.yaml --set name=bad --set data.split.validation=0.1 "
	refuse(t, ExitData, one+"--set batch.classes=6", "the keys are batch.classes and batch.per_class; data.split.validation holds out images of 1 class")
	refuse(t, ExitData, one+"--set batch.classes=4", "set it to 0.26 or more for two of 6")
	must(t, 0, "train photos.yaml -q --set train.epochs=0 --set train.steps=1 --set data.split.validation=0.26 --set name=other")

	classFolders(t, "few", 8, 4)
	out = must(t, 0, "config init folder few")
	if want := "validation: 0             # 4 classes to train on are too few to hold out two: test images pick the best checkpoint"; !strings.Contains(out, want) {
		t.Errorf("no line %q in\n%s", want, out)
	}
}
