package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tercet/internal/cli"
	"tercet/internal/cli/base"
	"tercet/internal/cli/clitest"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// childKey in the environment turns the test binary into the program.
const childKey = "TERCET_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childKey) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// program is the command line as a process of its own.
func program(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, clitest.ShellWords(line)...)
	cmd.Env = append(os.Environ(), childKey+"=1")
	return cmd
}

// A short form of the tests in internal/kills: killed at three moments, with another
// number of threads each time, the run ends in the same bytes.
func TestKilledAndResumed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL on Windows")
	}
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.epochs=12 --set train.log_every=1 --set data.split.validation=0.25 --set data.augment.crop_padding=2 --quiet"
	clitest.Must(t, 0, line+" --out undisturbed --threads 1")
	r := rand.New(rand.NewPCG(1, 2))
	events := "runs/tiny/events.jsonl"
	size := func() int64 {
		if info, err := os.Stat(events); err == nil {
			return info.Size()
		}
		return 0
	}
	killed := 0
	for kill := range 3 {
		cmd := program(t, fmt.Sprint(line, " --threads ", 1+kill%2))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		from := size()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1) // a process that has ended still takes signals until it is waited for
		go func() { ended <- cmd.Wait() }()
		// After some events more, of about 500 bytes, and at any point of a step.
		for until := from + 500*int64(1+r.IntN(15)); size() < until && len(ended) == 0; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
		cmd.Process.Kill()
		if err := <-ended; err != nil && stderr.Len() == 0 {
			killed++
		} else {
			t.Logf("kill %d came too late: %v %s", kill, err, stderr.String())
		}
		t.Logf("killed with %d bytes of events", size())
	}
	if killed == 0 {
		t.Fatal("not killed once")
	}
	clitest.Must(t, 0, "train --resume runs/tiny --quiet --threads 2")
	if clitest.Checkpoints(t, "runs/tiny") != clitest.Checkpoints(t, "undisturbed/tiny") {
		t.Error("a killed run ends in other bytes")
	}
}

func TestInterruptedBySignal(t *testing.T) {
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.epochs=15 --set train.eval_every=0"
	clitest.Must(t, 0, line+" --out undisturbed --quiet")
	var out bytes.Buffer
	stderr := &clitest.SignalAt{Text: "epoch 3,"}
	code := cli.Main(clitest.ShellWords(line), strings.NewReader(""), &out, stderr)
	if code != base.ExitInterrupted || out.Len() > 0 || !strings.Contains(string(stderr.All), "the checkpoint is written; tercet train --resume runs/tiny continues it") {
		t.Fatalf("code %d, stdout %q, stderr %s", code, out.String(), stderr.All)
	}
	before := clitest.Snapshot(t, "runs/tiny")
	clitest.Must(t, 0, "eval --run runs/tiny") // as far as it has come
	clitest.Unchanged(t, "runs/tiny", before, func(path string) bool {
		return filepath.Base(path) == "eval.json" || strings.Contains(path, "figures")
	})
	clitest.Must(t, 0, "train --resume runs/tiny --quiet")
	if clitest.Checkpoints(t, "runs/tiny") != clitest.Checkpoints(t, "undisturbed/tiny") {
		t.Error("an interrupted run ends in other bytes")
	}
}

// A closed terminal leaves a checkpoint, but not under nohup.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests run under nohup")
	}
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.epochs=15 --set train.eval_every=0"
	var out bytes.Buffer
	stderr := &clitest.SignalAt{Text: "epoch 3,", Sig: syscall.SIGHUP}
	code := cli.Main(clitest.ShellWords(line), strings.NewReader(""), &out, stderr)
	if code != base.ExitInterrupted || !strings.Contains(string(stderr.All), "hangup: stopping at the next safe moment") {
		t.Fatalf("code %d, stderr %s", code, stderr.All)
	}
	if m, _ := os.ReadFile("runs/tiny/manifest.json"); !strings.Contains(string(m), `"status": "interrupted"`) {
		t.Errorf("manifest %s", m)
	}
	if _, err := exec.LookPath("nohup"); err != nil {
		t.Skip("no nohup")
	}
	cmd := program(t, line+" --out nohup")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(pipe); in.Scan(); {
		if strings.Contains(in.Text(), "epoch 3,") {
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("with SIGHUP ignored: %v", err)
	}
}

// gone is a pipe whose reader has gone away.
func gone(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// A reader of stderr that goes away takes the messages with it and nothing else; one of
// stdout that does is an exit code of its own, without a message.
func TestReadersThatGoAway(t *testing.T) {
	clitest.InTiny(t)
	for _, tc := range []struct {
		line   string
		stdout bool // the reader of stdout has gone, too
		code   int
	}{
		{"train -c tiny.yaml", false, 0},
		{"train -c tiny.yaml --runs-dir closed", true, base.ExitClosed},
		{"config keys", true, base.ExitClosed},
	} {
		cmd := program(t, tc.line)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, gone(t)
		if tc.stdout {
			cmd.Stdout, cmd.Stderr = gone(t), &out
		}
		cmd.Run() // its exit code tells
		if code := cmd.ProcessState.ExitCode(); code != tc.code || strings.Contains(out.String(), "pipe") {
			t.Errorf("%s: code %d, want %d; printed %s", tc.line, code, tc.code, out.String())
		}
	}
	for _, run := range []string{"runs/tiny", "closed/tiny"} {
		if m, _ := os.ReadFile(run + "/manifest.json"); !strings.Contains(string(m), `"status": "finished"`) {
			t.Errorf("%s: manifest %s", run, m)
		}
	}
}

// A damaged checkpoint says how to continue, in training and in evaluation, and the
// command that it names ends in the same bytes.
func TestFromThePreviousCheckpoint(t *testing.T) {
	clitest.InTiny(t)
	line := "train -c tiny.yaml --set train.checkpoint_every='4 steps' --quiet"
	clitest.Must(t, 0, line)
	want := clitest.Checkpoints(t, "runs/tiny")
	last := "runs/tiny/checkpoints/last.safetensors"
	b, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-3] ^= 1
	if err := os.WriteFile(last, b, 0o644); err != nil {
		t.Fatal(err)
	}
	const command = "`tercet train --resume runs/tiny --from previous` continues from it, --from start trains from the first step"
	clitest.Refuse(t, 3, "eval --run runs/tiny", "; what can be used is checkpoints/previous.safetensors at step 16 and checkpoints/best.safetensors at step 9: "+command)
	clitest.Refuse(t, 2, "train --resume runs/tiny --from last", `--from is "last"; give previous, best or start`)
	clitest.Refuse(t, 2, "train -c tiny.yaml --from previous", "--from needs --resume")
	clitest.Must(t, 0, "train --resume runs/tiny --from previous --quiet")
	if clitest.Checkpoints(t, "runs/tiny") != want {
		t.Error("other bytes")
	}
	os.Remove("runs/tiny/manifest.json")
	os.Remove(last)
	clitest.Refuse(t, 3, "train --resume runs/tiny", "last.safetensors is missing, though it existed before; what can be used is checkpoints/previous")
}

// What the last bits and the speed depend on is part of the document.
func TestBenchNamesTheEnvironment(t *testing.T) {
	line := "bench --job mlp --check --json --quiet"
	for env, want := range map[string]string{
		kernel.EnvLevel + "=generic": `"kernel": "generic"`,
		kernel.EnvWinograd + "=off":  `"kernel": "` + kernel.Current().String() + `, winograd off"`,
		kernel.EnvLevel + "=sse":     `environment variable TERCET_KERNEL: unknown kernel level \"sse\" (valid: generic, avx2, avx512, amx)`,
		kernel.EnvWinograd + "=on":   `environment variable TERCET_WINOGRAD: unknown choice \"on\" (valid: auto, measure, off)`,
		par.EnvNUMA + "=on":          `environment variable TERCET_NUMA: unknown choice \"on\" (valid: auto, off)`,
		par.EnvNUMA + "=off":         `"kernel": "` + kernel.Current().String() + `"`,
	} {
		cmd := program(t, line)
		cmd.Env = append(cmd.Env, env)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, want %s in\n%s", env, err, want, out)
		}
		if wrong := strings.Contains(want, "unknown"); wrong != (cmd.ProcessState.ExitCode() == base.ExitUsage) {
			t.Errorf("%s: %v", env, err)
		}
	}
}
