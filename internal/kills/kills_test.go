//go:build linux

package kills

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tercet/internal/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }

// Environment of `make kill-test`: how long to kill, and the seed of moments,
// threads and ways to resume.
const (
	secondsKey = "KILL_SECONDS"
	seedKey    = "KILL_SEED"
)

// bench is where the undisturbed results lie and what the trials share.
type bench struct {
	until  time.Time
	random *rand.Rand
	refs   map[string]*reference // by job
	kills  int
	trials int
}

// reference is what a job leaves undisturbed.
type reference struct {
	start map[string]string // files that a trial begins from, by path below its folder
	want  map[string]string
	took  time.Duration
}

func newBench(t *testing.T) *bench {
	t.Helper()
	seconds, err := strconv.Atoi(os.Getenv(secondsKey))
	if err != nil || seconds < 1 {
		t.Skipf("%s=60 kills for a minute", secondsKey)
	}
	seed := uint64(time.Now().UnixNano() % 1e6)
	if text := os.Getenv(seedKey); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s is %q; expected a whole number", seedKey, text)
		}
	}
	t.Logf("%s=%d %s=%d", secondsKey, seconds, seedKey, seed)
	return &bench{until: time.Now().Add(time.Duration(seconds) * time.Second), random: rand.New(rand.NewPCG(seed, 0)), refs: map[string]*reference{}}
}

// TestRandomKills kills each job at random moments, up to four times, and lets it
// end; jobs come round until the time is over, each at least once.
func TestRandomKills(t *testing.T) {
	b := newBench(t)
	for round := 0; round == 0 || time.Now().Before(b.until); round++ {
		for _, j := range jobs {
			if round > 0 && !time.Now().Before(b.until) {
				break
			}
			ref := b.reference(t, j)
			dir := b.begin(t, ref)
			var moments []string
			for range 1 + b.random.IntN(4) {
				cmd := b.command(t, j, dir, nil)
				delay := time.Duration(b.random.Float64() * 1.1 * float64(ref.took))
				if !killAfter(t, cmd, delay) {
					break // it had ended by itself
				}
				b.kills++
				moments = append(moments, fmt.Sprintf("%d ms", delay.Milliseconds()))
			}
			b.finish(t, j, dir, "killed after "+strings.Join(moments, ", "))
		}
	}
	t.Logf("%d kills in %d trials of %d jobs", b.kills, b.trials, len(jobs))
}

// reference runs the job undisturbed, once.
func (b *bench) reference(t *testing.T, j job) *reference {
	t.Helper()
	if ref := b.refs[j.name]; ref != nil {
		return ref
	}
	ref := &reference{start: map[string]string{"c.yaml": j.config}}
	dir := b.begin(t, ref)
	if !j.trains() {
		run(t, proctest.Command(t, nil, "train", "-q", "-c", "c.yaml"), dir)
		ref.start = files(t, dir)
	}
	start := time.Now()
	run(t, b.command(t, j, dir, nil), dir)
	ref.took = time.Since(start)
	want, err := content(dir)
	if err != nil {
		t.Fatalf("%s: %v", j.name, err)
	}
	ref.want = want
	b.refs[j.name] = ref
	t.Logf("%s: undisturbed in %d ms, %d files", j.name, ref.took.Milliseconds(), len(want))
	return ref
}

// begin makes a trial's folder.
func (b *bench) begin(t *testing.T, ref *reference) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range ref.start {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command starts or resumes the job with a number of threads drawn again; a single
// run that has begun is resumed by its directory or by its config.
func (b *bench) command(t *testing.T, j job, dir string, prefix []string) *exec.Cmd {
	t.Helper()
	args := strings.Fields(j.args)
	if j.trains() {
		args = append(args, "-q")
		if _, err := os.Stat(filepath.Join(dir, "runs/run/config.yaml")); err == nil && b.random.IntN(2) == 0 {
			args = append(args, "--resume", "runs/run")
		} else {
			args = append(args, "--config", "c.yaml")
			if strings.Contains(j.config, "sweep:") {
				args = append(args, "--jobs", strconv.Itoa(1+b.random.IntN(2)))
			}
		}
	}
	args = append(args, "--threads", strconv.Itoa(1+b.random.IntN(2)))
	cmd := proctest.Command(t, nil, args...)
	if prefix != nil {
		cmd.Args = append(slices.Clone(prefix), cmd.Args...)
		path, err := exec.LookPath(prefix[0])
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = path
	}
	cmd.Dir = dir
	return cmd
}

// killAfter kills the process after the delay; it is false where it had ended.
func killAfter(t *testing.T, cmd *exec.Cmd, delay time.Duration) bool {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return killed(cmd.Wait())
}

func killed(err error) bool {
	exit, ok := err.(*exec.ExitError)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// finish lets the job end and compares what is there with the reference.
func (b *bench) finish(t *testing.T, j job, dir, how string) {
	t.Helper()
	b.trials++
	if out, err := b.command(t, j, dir, nil).CombinedOutput(); err != nil {
		t.Errorf("%s, %s: cannot be finished: %v\n%s", j.name, how, err, out)
		return
	}
	got, err := content(dir)
	if err != nil {
		t.Errorf("%s, %s: %v", j.name, how, err)
		return
	}
	if d := difference(b.refs[j.name].want, got); d != "" {
		t.Errorf("%s, %s:\n%s", j.name, how, d)
	}
}

func run(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args[1:], err, out.String())
	}
}

// files reads all files below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(all)
}
