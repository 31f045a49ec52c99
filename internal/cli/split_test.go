package cli_test

import (
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/cli/eval"
)

// --set-name is what older versions called --split: scripts keep working, help does not show it.
func TestSplitHasAnOlderName(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml --set data.split.validation=0.25")
	for _, flag := range []string{"--split", "--set-name"} {
		src := clitest.Document(t, "eval --run runs/tiny --no-pictures --force "+flag+" validation")["source"].(map[string]any)
		if src["set"] != "validation" {
			t.Errorf("%s: source %v", flag, src)
		}
	}
	if f := eval.New(&base.Streams{}).Flags(); f.Lookup("split") == nil || f.Lookup("set-name") != f.Lookup("split") {
		t.Error("--set-name is not --split")
	}
	clitest.Refuse(t, 2, "eval --run runs/tiny --set-name all", "--set-name is an old name: write --split")
	clitest.Refuse(t, 2, "eval --run runs/tiny --set-name all", "--split is")
	clitest.Refuse(t, 2, "eval --run runs/tiny --splt test", "did you mean --split?")
}
