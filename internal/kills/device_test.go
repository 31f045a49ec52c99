//go:build linux

package kills

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// deviceKey in the environment names the device that networks of make gpu-test compute on.
const deviceKey = "TERCET_DEVICE"

// deviceRuns are trained on a device: their configs are those of the digests.
var deviceRuns = [][]string{
	{"hm.yaml", "train.steps=12", "train.checkpoint_every=1 steps", "train.ema=0.9"},
	{"resnet18.yaml", "train.steps=6", "train.checkpoint_every=2 steps", "train.accumulate=2"},
}

// onDevice is the program of make native, or a skipped test.
func onDevice(t *testing.T) (program, device string) {
	program, device = os.Getenv(nativeKey), os.Getenv(deviceKey)
	if program == "" || device == "" {
		t.Skip(nativeKey + " or " + deviceKey + " is empty; make gpu-test sets them")
	}
	return program, device
}

// TestDeviceRunsThatAreKilled trains runs on a device twice, once killed at random moments
// and resumed: the bytes are the same.
func TestDeviceRunsThatAreKilled(t *testing.T) {
	program, device := onDevice(t)
	for _, r := range deviceRuns {
		args := func(root string) []string { return append(mpiArgs(r, root, 1), "--device", device) }
		begun := time.Now()
		want := alone(t, program, args)
		took := time.Since(begun)
		root, kills := t.TempDir(), 0
		for deadline := 3; ; deadline-- {
			cmd := exec.Command(program, args(root)...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if deadline > 0 {
				if killAfter(t, cmd, time.Duration(rand.Int64N(int64(took)))) {
					kills++
				}
				continue
			}
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			break
		}
		if d := difference(want, contentOf(t, root)); d != "" {
			t.Errorf("%v, killed %d times:\n%s", r, kills, d)
		}
		t.Logf("%v: killed %d times", r, kills)
	}
}

// TestDeviceRunsThatMove resumes a run of a device on the processor, and evaluates and
// attacks it on the device.
func TestDeviceRunsThatMove(t *testing.T) {
	program, device := onDevice(t)
	root := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run := filepath.Join(root, "hm")
	begun := exec.Command(program, append(mpiArgs([]string{"hm.yaml", "train.steps=40", "train.checkpoint_every=1 steps"}, root, 1), "--device", device)...)
	if err := begun.Start(); err != nil {
		t.Fatal(err)
	}
	for since := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(run, "checkpoints", "last.safetensors")); err == nil {
			break
		}
		if time.Since(since) > time.Minute {
			t.Fatal("no checkpoint in a minute")
		}
	}
	_ = begun.Process.Kill()
	_ = begun.Wait()
	if out := must("train", "--resume", run, "--device", "cpu"); !strings.Contains(out, "other kernels") {
		t.Errorf("nothing is said about the change of device:\n%s", out)
	}
	if m, err := os.ReadFile(filepath.Join(run, "manifest.json")); err != nil || strings.Count(string(m), "networks on "+device) < 1 || !strings.Contains(string(m), "kernels ") {
		t.Errorf("the manifest does not name the device (%v):\n%s", err, m)
	}
	must("eval", run, "--device", device, "--no-kmeans")
	must("attack", run, "--device", device, "--queries", "4", "--pgd-steps", "2")
}

// TestDeviceRefusals are devices that cannot be used: errors, never the processor in silence.
func TestDeviceRefusals(t *testing.T) {
	program, device := onDevice(t)
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"TERCET_OPENCL=/none.so", []string{"--device", "opencl"}, "no OpenCL library can be opened"},
		{"TERCET_OPENCL=libm.so.6", []string{"--device", "opencl"}, "has no symbol clGetPlatformIDs"},
		{"TERCET_CUDA=/none.so", []string{"--device", "cuda"}, "driver library cannot be opened"},
		{"A=", []string{"--device", device + ":63"}, ""},
		{"A=", []string{"--device", "tpu"}, "valid: cpu, opencl, cuda"},
		{"A=", []string{"--device", device, "--set", "model=vit-s16", "--set", "model.embedding=0"}, "has no kernels"},
		{"A=", []string{"--device", device, "--set", "train.shards=2"}, "trains whole batches"},
		{"A=", []string{"--device", device, "--set", "defense=ibp"}, "set train.device to cpu"},
	} {
		root := t.TempDir()
		cmd := exec.Command(program, append(mpiArgs([]string{"hm.yaml"}, root, 1), c.args...)...)
		cmd.Env = append(os.Environ(), c.env)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "goroutine ") {
			t.Errorf("%v %v: %v\n%s", c.env, c.args, err, out)
		}
		if list, _ := os.ReadDir(filepath.Join(root, "hm")); len(list) > 0 {
			t.Errorf("%v: a run was begun", c.args)
		}
	}
}
