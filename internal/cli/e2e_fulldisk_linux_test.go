package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
)

// smallDisk mounts a file system of so many kibibytes; the test is skipped where
// that is not allowed.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted here (%v); run as root to test a full one", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

// The disk fills up during a run: one error, the last checkpoint stays, and with
// room again the run ends as if nothing had happened. The same for results.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, "256k")
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.epochs=6"
	clitest.Must(t, 0, line)
	want := clitest.Checkpoints(t, "runs/tiny")

	out := filepath.Join(disk, "runs")
	dir := filepath.Join(out, "tiny")
	fill(t, filepath.Join(disk, "ballast"))
	os.Truncate(filepath.Join(disk, "ballast"), 4096*40)
	code, _, stderr := clitest.Run(clitest.ShellWords(line + " --out " + out)...)
	if code == 0 {
		// All of it fits: leave less than the checkpoints take.
		t.Fatal("the disk is too large for this test")
	}
	if code != base.ExitFailed || !strings.Contains(stderr, "no space left on device") {
		t.Fatalf("code %d, %s", code, stderr)
	}
	before := clitest.Snapshot(t, dir)
	for path := range before {
		if strings.Contains(path, ".tmp-") {
			t.Errorf("left behind: %s", path)
		}
	}
	fill(t, filepath.Join(disk, "more"))
	if code, _, stderr := clitest.Run("train", "--resume", dir); code != base.ExitFailed || !strings.Contains(stderr, "no space left") {
		t.Errorf("still full: code %d, %s", code, stderr)
	}
	os.Remove(filepath.Join(disk, "ballast"))
	os.Remove(filepath.Join(disk, "more"))
	clitest.Must(t, 0, "train --resume "+dir)
	if clitest.Checkpoints(t, dir) != want {
		t.Error("a run on a disk that was full ends in other bytes")
	}

	clitest.Must(t, 0, "eval --no-pictures --run "+dir)
	before = clitest.Snapshot(t, dir)
	fill(t, filepath.Join(disk, "ballast"))
	clitest.Refuse(t, base.ExitFailed, "eval --no-pictures --force --seed 5 --run "+dir, "no space left on device (the file is as it was before)")
	clitest.Unchanged(t, dir, before, nil)
}
