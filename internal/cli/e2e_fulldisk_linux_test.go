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

// Every command that writes a file says in one line that the disk is full, and leaves no
// part of a file under its final name; one that was there before stays as it was.
func TestFullDiskOfOutputs(t *testing.T) {
	disk := smallDisk(t, "64k")
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	clitest.Must(t, 0, "embed --run runs/tiny --out vectors")
	clitest.Must(t, 0, "cluster --run runs/tiny --method kmeans --map none --no-pictures --out-dir clusters")
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures --save-embeddings X.npy")
	clitest.Must(t, 0, "eval --run runs/tiny --no-pictures")
	clitest.Put(t, "g.txt", "MULTICUT\n0 1 1\n1 2 -1\n0 2 1\n")
	fill(t, filepath.Join(disk, "ballast"))
	for _, line := range []string{
		"eval --run runs/tiny --no-kmeans --out @/e.json",
		"eval --embeddings X.npy --labels X.labels.npy --no-kmeans --out @/e.json",
		"eval --run runs/tiny --save-embeddings @/X.npy",
		"export embeddings vectors --out @/X.fbin",
		"export torch runs/tiny --out @/torch",
		"export onnx runs/tiny --out @/tiny.onnx",
		"cluster --run runs/tiny --method kmeans --map none --out-dir @/c",
		"cluster --graph g.txt --out-dir @/c",
		"cluster assign --clusters clusters --embeddings X.npy --out-dir @/a",
		"attack --run runs/tiny --attack FNA --queries 4 --examples 0 --out-dir @/a",
		"attack --run runs/tiny --attack FNA --queries 4 --examples 0 --force --save-images @/images",
		"embed --run runs/tiny --out @/v",
		"search --gallery vectors --queries vectors -k 2 --out @/f.csv",
		"search --gallery vectors --queries vectors -k 2 --out @/f.jsonl",
		"search --gallery vectors --queries vectors -k 2 --out @/arrays",
		"report runs/tiny --page @/p.md",
		"report runs/tiny --page @/p.html",
		"study archive runs/tiny --out @/r.zip",
		"data preview -c tiny.yaml --out @/s.png",
		"config init glyphs --out @/c.yaml",
		"man @/man",
	} {
		code, _, stderr := clitest.Run(clitest.ShellWords(strings.ReplaceAll(line, "@", disk))...)
		said := ""
		for _, l := range strings.Split(strings.TrimSpace(stderr), "\n") {
			if strings.HasPrefix(l, "tercet: ") {
				said += l
			}
		}
		if code != base.ExitFailed || strings.Count(stderr, "no space left on device") != 1 || !strings.Contains(said, "no space left on device") || strings.Contains(said, ".tmp-") {
			t.Errorf("%s: code %d\n%s", line, code, stderr)
		}
		for path := range clitest.Snapshot(t, disk) {
			if base := filepath.Base(path); base != "ballast" && !strings.HasPrefix(base, "partial.") && base != "lock" {
				t.Errorf("%s: left behind: %s", line, path)
			}
		}

		code, _, stderr = clitest.Run(clitest.ShellWords(strings.ReplaceAll(line, "@", "/dev/full"))...)
		if code == 0 || !strings.Contains(stderr, "/dev/full") || !strings.Contains(stderr, "not a folder") && !strings.Contains(stderr, "not a directory") {
			t.Errorf("%s, below a device: code %d\n%s", line, code, stderr)
		}
	}
}

// A picture that cannot be written is an error; the numbers are written before.
func TestFullDiskOfPictures(t *testing.T) {
	disk := smallDisk(t, "64k")
	clitest.InTiny(t)
	clitest.Must(t, 0, "train -c tiny.yaml")
	fill(t, filepath.Join(disk, "ballast"))
	os.Truncate(filepath.Join(disk, "ballast"), 4096*10)
	out := filepath.Join(disk, "c")
	clitest.Refuse(t, base.ExitFailed, "cluster --run runs/tiny --method kmeans --map none --out-dir "+out, "no space left on device (the file is as it was before)")
	if _, err := os.Stat(filepath.Join(out, "cluster.json")); err != nil {
		t.Error(err)
	}
	if pictures, _ := filepath.Glob(filepath.Join(out, "figures", "*")); len(pictures) > 1 {
		t.Errorf("pictures: %v", pictures)
	}
}
