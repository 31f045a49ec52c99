//go:build linux

package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tercet/internal/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }

// allKey in the environment adds the cases that are not marked as fast.
const allKey = "TERCET_HOSTILE"

// Limits of a case. The time is no measurement: it is far more than any case takes
// on a busy machine, and finds what waits for ever.
const (
	extraMemory = 64 << 20
	spare       = 256 << 20 // beyond the limit, before a process is killed for it
	caseTime    = 90 * time.Second
)

// goWords are what only a programmer of Go understands.
var goWords = regexp.MustCompile(`goroutine \d|internal error|panic|runtime error|strconv\.|(^|[ (])(json|yaml|csv): |Go struct|Go value|unmarshal|interface \{\}|\*errors\.|0xc0|makeslice|%!|<nil>`)

// TestHostile runs the program on each case of the tables.
func TestHostile(t *testing.T) {
	all := readTables(t)
	bases := prepare(t)
	least := baseline(t)
	ran := 0
	for _, c := range all {
		if !c.fast && os.Getenv(allKey) == "" {
			continue
		}
		ran++
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, bases, least)
		})
	}
	t.Logf("%d of %d cases; %s=all runs all", ran, len(all), allKey)
}

func (c *hostileCase) test(t *testing.T, bases map[string]string, least int64) {
	dir := t.TempDir()
	if c.base != "" {
		if bases[c.base] == "" {
			t.Fatalf("%s: no base %q", c.where, c.base)
		}
		if err := os.CopyFS(dir, os.DirFS(bases[c.base])); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range c.files {
		if err := f.make(dir); err != nil {
			t.Fatalf("%s: %s: %v", c.where, f.path, err)
		}
	}
	input, before := survey(t, dir)
	limit := least + extraMemory + 2*input
	code, stdout, stderr, took := c.execute(t, dir, limit)
	head := fmt.Sprintf("%s: tercet %s", c.where, c.run)
	report := excerpt(stderr)
	if !slices.Contains(c.exits, code) {
		t.Errorf("%s: exit code %d, expected %v\n%s", head, code, c.exits, report)
	}
	if took > limit {
		t.Errorf("%s: took %d MiB, allowed are %d (twice %d KiB of input, 64 MiB, and the %d MiB of a good command)\n%s", head, took>>20, limit>>20, input>>10, least>>20, report)
	}
	said := stderr
	if code == 0 {
		said += stdout
	}
	if says := strings.ReplaceAll(c.says, "DIR", dir); says != "*" && !strings.Contains(said, says) {
		t.Errorf("%s: %q is not said\n%s", head, c.says, report)
	}
	if words := goWords.FindString(stderr); words != "" {
		t.Errorf("%s: says %q\n%s", head, words, report)
	}
	if code != 0 {
		c.unharmed(t, dir, before, stdout)
	}
}

// execute runs the case and returns the exit code, what was written, and the most
// memory that was taken. A process far over the limit, or without an end, is
// killed: code -1.
func (c *hostileCase) execute(t *testing.T, dir string, limit int64) (code int, stdout, stderr string, took int64) {
	ctx, cancel := context.WithTimeout(t.Context(), caseTime)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := proctest.Command(t, []string{"TMPDIR=" + dir}, words(strings.ReplaceAll(c.run, "DIR", dir))...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait()
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-ctx.Done():
			t.Errorf("%s: tercet %s: no end after %v", c.where, c.run, caseTime)
			cmd.Process.Kill()
			<-done
			running = false
		case <-tick.C:
			if resident(cmd.Process.Pid) > limit+spare {
				cmd.Process.Kill()
			}
		}
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		took = int64(usage.Maxrss) << 10 // a smaller type on 32-bit machines
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String(), took
}

// resident is the memory of a process in bytes, 0 where it is gone.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, rss int64
	if _, err := fmt.Sscan(string(b), &size, &rss); err != nil {
		return 0
	}
	return rss * int64(os.Getpagesize())
}

// baseline is the memory that a command takes which finds nothing wrong.
func baseline(t *testing.T) int64 {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(tiny), 0o644); err != nil {
		t.Fatal(err)
	}
	c := hostileCase{where: "baseline", run: "train -q -c c.yaml"}
	code, _, stderr, took := c.execute(t, dir, 1<<40)
	if code != 0 {
		t.Fatalf("a good run ends with %d\n%s", code, stderr)
	}
	return took
}

// leftover matches what a killed process left half written: a resumed run removes it.
var leftover = regexp.MustCompile(`^\..*\.tmp-`)

// survey adds up the input on disk and remembers the small files' bytes.
func survey(t *testing.T, dir string) (size int64, files map[string]string) {
	t.Helper()
	files = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			size += min(info.Size(), stat.Blocks*512)
		}
		if info.Size() < 1<<20 && !leftover.MatchString(d.Name()) {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[path] = string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return size, files
}

// unharmed checks after an error that no input has changed and stdout is empty.
// A run may note its end in its manifest and its log.
func (c *hostileCase) unharmed(t *testing.T, dir string, before map[string]string, stdout string) {
	if stdout != "" {
		t.Errorf("%s: an error left %q on stdout", c.where, stdout)
	}
	for path, was := range before {
		switch filepath.Base(path) {
		case "manifest.json", "events.jsonl", "lock":
			continue
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != was {
			t.Errorf("%s: tercet %s changed %s (%v)", c.where, c.run, strings.TrimPrefix(path, dir), err)
		}
	}
}

// words splits a command line at spaces; single quotes keep them, \xHH and the
// like are read.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			if text, err := unquote(part); err == nil {
				part = text
			}
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

func excerpt(s string) string {
	if len(s) > 900 {
		return s[:600] + " [...] " + s[len(s)-300:]
	}
	return s
}

// tiny is a run of 18 steps on 72 images of 16x16 pixels.
const tiny = `
name: tiny
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
miner: softhard
train: {epochs: 2, log_every: 3, checkpoint_every: 4 steps, eval_every: 0}
eval: {bootstrap: 100, kmeans: {n_init: 2}}
`

// prepare makes the folders that cases begin from: run has a finished run
// runs/tiny, half one that was stopped, vectors X.npy and y.npy.
func prepare(t *testing.T) map[string]string {
	t.Helper()
	bases := map[string]string{"run": t.TempDir(), "half": t.TempDir()}
	for name, dir := range bases {
		text := tiny
		if name == "half" { // long enough to be stopped after its second checkpoint
			text = strings.Replace(tiny, "epochs: 2,", "epochs: 20,", 1)
		}
		if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := proctest.Command(t, nil, "train", "-q", "-c", "c.yaml")
		cmd.Dir = dir
		if name == "half" {
			stop(t, cmd, filepath.Join(dir, "runs/tiny/checkpoints/previous.safetensors"))
		} else if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return bases
}

// stop starts the run and kills it once the path is there.
func stop(t *testing.T, cmd *exec.Cmd, path string) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 10000 {
		if _, err := os.Stat(path); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}
