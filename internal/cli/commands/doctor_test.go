package commands_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tercet/internal/cli/clitest"
	"tercet/internal/cli/doctor"
	"tercet/internal/record/printed"
)

func TestChecksAConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	clitest.WriteFile(t, "bad.yaml", "nam: x\n")
	code, out, stderr := clitest.Run("doctor", "--config", "bad.yaml")
	if code != 2 || !strings.Contains(out, "fail  config: bad.yaml:1: nam: unknown key") || stderr != "tercet: checks failed: config\n" {
		t.Errorf("got %d\n%s\n%s", code, out, stderr)
	}
	if !strings.HasPrefix(out, "ok    kernel: ") && !strings.HasPrefix(out, "warn  kernel: ") || strings.Contains(out, "\nmodule ") {
		t.Errorf("the verdicts are not first, or modules are listed:\n%s", out)
	}
	for _, modules := range []bool{false, true} { // a test binary knows of none
		var b bytes.Buffer
		doc := printed.Doctor{Modules: []printed.Module{{Path: "example.org/m", Version: "v1"}}}
		if err := doctor.PrintDoctor(&b, doc, modules); err != nil || strings.Contains(b.String(), "\nmodule    example.org/m v1\n") != modules {
			t.Errorf("modules %v: printed\n%s", modules, b.String())
		}
	}
	if files, _ := os.ReadDir("."); len(files) != 1 {
		t.Errorf("doctor left files: %v", files)
	}
}
