//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// TestFilesOfARunMayBeNoPipes: a pipe in place of a file of a run directory made each of
// these wait for ever, and a link to /dev/zero made it read until the memory was full.
func TestFilesOfARunMayBeNoPipes(t *testing.T) {
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -q -c tiny.yaml -o runs")
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	pipe, err := filepath.Abs("pipe")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, line string }{
		{"config.yaml", "train -q --resume runs/tiny"},
		{"config.yaml", "report --runs runs/tiny"},
		{"manifest.json", "train -q --resume runs/tiny"},
		{"manifest.json", "report --runs runs/tiny"},
		{"checkpoints/last.safetensors", "eval --run runs/tiny"},
	} {
		path := filepath.Join("runs", "tiny", c.file)
		for target, what := range map[string]string{pipe: "is a pipe", "/dev/zero": "is a device"} {
			if err := os.Rename(path, "kept"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
			clitest.Refuse(t, base.ExitData, c.line, what)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename("kept", path); err != nil {
				t.Fatal(err)
			}
		}
	}
}
