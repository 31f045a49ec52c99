//go:build linux

package kills

import (
	"bytes"
	"fmt"
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
)

// nativeKey in the environment names the program of make native, and killsKey how many
// ranks are killed under each launcher; see make mpi-test.
const (
	nativeKey = "TERCET_NATIVE"
	killsKey  = "MPI_KILLS"
)

// launchers start ranks on this machine, as root, over loopback.
var launchers = []struct {
	name string
	env  []string
	args []string // without the number of ranks
}{
	{"openmpi", []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		[]string{"mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "--mca", "pml", "ob1", "--mca", "oob_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "1"}},
	{"mpich", []string{"FI_TCP_IFACE=lo", "UCX_NET_DEVICES=lo", "TERCET_MPI=libmpich.so.12"},
		[]string{"mpirun.mpich", "-localhost", "127.0.0.1", "-iface", "lo"}},
}

// mpiJob is mpirun with ranks below it.
type mpiJob struct {
	*exec.Cmd
	out   bytes.Buffer
	ended chan error
}

// eachLauncher runs f under every launcher, with a way to start jobs.
func eachLauncher(t *testing.T, f func(t *testing.T, program string, start func(ranks int, args ...string) *mpiJob)) {
	program := os.Getenv(nativeKey)
	if program == "" {
		t.Skip(nativeKey + " names no program; make mpi-test sets it")
	}
	for _, l := range launchers {
		t.Run(l.name, func(t *testing.T) {
			f(t, program, func(ranks int, args ...string) *mpiJob {
				line := append(append(append([]string{}, l.args...), "-n", strconv.Itoa(ranks), program), args...)
				j := &mpiJob{Cmd: exec.Command(line[0], line[1:]...), ended: make(chan error, 1)}
				j.Env = append(os.Environ(), l.env...)
				j.Stdout, j.Stderr = &j.out, &j.out
				j.WaitDelay = 5 * time.Second
				if err := j.Start(); err != nil {
					t.Fatal(err)
				}
				go func() { j.ended <- j.Wait() }()
				return j
			})
		})
	}
}

// wait waits for the launcher's end, at most so long.
func (j *mpiJob) wait(t *testing.T, most time.Duration) error {
	t.Helper()
	select {
	case err := <-j.ended:
		return err
	case <-time.After(most):
		left := j.ranks()
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGABRT) // where each of them is
		}
		time.Sleep(time.Second)
		j.Process.Kill()
		t.Fatalf("the job did not end within %v: ranks %v are left\n%s", most, left, &j.out)
		return nil
	}
}

// ranks are the processes of the program below the launcher.
func (j *mpiJob) ranks() (pids []int) {
	parents := map[int]int{}
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	program, _ := filepath.Abs(os.Getenv(nativeKey))
	for pid := range parents {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		for p := pid; exe == program && p > 1; p = parents[p] {
			if p == j.Process.Pid {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// mpiRuns are trained by ranks and compared: their configs are those of the digests.
var mpiRuns = [][]string{
	{"c2f2.yaml", "train.shards=4"},
	{"resnet18.yaml", "train.shards=4", "train.batchnorm=shard"},
	{"resnet18.yaml", "train.shards=4"},
	{"hm.yaml", "train.shards=4"},
}

func mpiArgs(run []string, root string, threads int) []string {
	args := []string{"train", "../digest/testdata/" + run[0], "--quiet", "--runs-dir", root, "--threads", strconv.Itoa(threads)}
	for _, set := range run[1:] {
		args = append(args, "--set", set)
	}
	return args
}

// alone trains without ranks, and returns what comes of it.
func alone(t *testing.T, program string, args func(root string) []string) map[string]string {
	t.Helper()
	root := t.TempDir()
	if out, err := exec.Command(program, args(root)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return contentOf(t, root)
}

func contentOf(t *testing.T, root string) map[string]string {
	t.Helper()
	c, err := content(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMPIRanksGiveTheBytesOfOne(t *testing.T) {
	eachLauncher(t, func(t *testing.T, program string, start func(int, ...string) *mpiJob) {
		for _, run := range mpiRuns {
			want := alone(t, program, func(root string) []string { return mpiArgs(run, root, 2) })
			for ranks, threads := range map[int]int{1: 1, 2: 2, 4: 1} {
				root := t.TempDir()
				j := start(ranks, append(mpiArgs(run, root, threads), "--ranks", "mpi")...)
				if err := j.wait(t, time.Minute); err != nil {
					t.Fatalf("%v, %d ranks: %v\n%s", run, ranks, err, &j.out)
				}
				if d := difference(want, contentOf(t, root)); d != "" {
					t.Errorf("%v, %d ranks of %d threads:\n%s", run, ranks, threads, d)
				}
			}
		}
	})
}

// longRun takes a few seconds, with a checkpoint in every 7 steps.
func longRun(root string) []string {
	return append(mpiArgs([]string{"hm.yaml", "train.shards=4", "train.steps=400", "train.checkpoint_every=7 steps", "train.eval_every=1", "train.log_every=3", "defense.pgd.steps=1"}, root, 1), "--set", "miner=random")
}

// TestMPIKills kills ranks at random moments, and resumes with other numbers of ranks.
func TestMPIKills(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv(killsKey))
	if err != nil {
		kills = 5
	}
	eachLauncher(t, func(t *testing.T, program string, start func(int, ...string) *mpiJob) {
		want := alone(t, program, longRun)
		random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
		var slowest time.Duration
		killed, rounds, signaled := 0, 0, 0
		var what strings.Builder // of the last run
		defer func() {
			if t.Failed() {
				t.Log(what.String())
			}
		}()
		for killed < kills {
			root := t.TempDir()
			what.Reset()
			for rounds++; ; {
				j := start(1<<random.IntN(3), append(longRun(root), "--ranks", "mpi")...)
				after := time.Duration(random.IntN(2500)) * time.Millisecond
				select {
				case err := <-j.ended:
					if err != nil {
						t.Fatalf("undisturbed: %v\n%s", err, &j.out)
					}
				case <-time.After(after):
					pids := j.ranks()
					for ; len(pids) == 0 && len(j.ended) == 0; pids = j.ranks() { // the launcher is slow to start them
						time.Sleep(time.Millisecond)
					}
					if len(pids) == 0 { // it has just ended
						continue
					}
					begun, sig := time.Now(), syscall.SIGKILL
					if random.IntN(5) == 0 {
						sig = syscall.SIGTERM
					}
					victim := pids[random.IntN(len(pids))]
					fmt.Fprintf(&what, "%v to process %d of %v after %v\n", sig, victim, pids, after)
					syscall.Kill(victim, sig)
					// A signal waits for a step. Ranks that wait spin, so that on a loaded machine
					// with fewer cores than ranks a step takes seconds.
					err := j.wait(t, map[syscall.Signal]time.Duration{syscall.SIGKILL: 20 * time.Second, syscall.SIGTERM: 2 * time.Minute}[sig])
					if sig == syscall.SIGTERM {
						signaled++
						continue
					}
					if err == nil { // it came to its end first
						break
					}
					killed++
					if took := time.Since(begun); took > slowest {
						slowest = took
					}
					if left := j.ranks(); len(left) > 0 {
						t.Fatalf("processes %v are left", left)
					}
					continue
				}
				break
			}
			if d := difference(want, contentOf(t, root)); d != "" {
				t.Fatalf("after kills of ranks:\n%s", d)
			}
		}
		if slowest > 5*time.Second {
			t.Errorf("a job ended %v after one of its ranks", slowest)
		}
		t.Logf("%d ranks killed, %d stopped, in %d runs; the slowest job ended %v after its rank", killed, signaled, rounds, slowest.Round(time.Millisecond))
	})
}

// TestMPINamesKilled kills one of two ranks: the other names it and ends, unless the launcher
// is faster, and the launcher's code is logged.
func TestMPINamesKilled(t *testing.T) {
	eachLauncher(t, func(t *testing.T, program string, start func(int, ...string) *mpiJob) {
		named, codes := 0, map[int]int{}
		const times = 6
		for i := range times {
			root := t.TempDir()
			j := start(2, append(longRun(root), "--ranks", "mpi")...)
			last := filepath.Join(root, "hm", "checkpoints", "last.safetensors")
			for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
				if _, err := os.Stat(last); err == nil {
					break
				}
			}
			pids := j.ranks()
			if len(pids) != 2 {
				t.Fatalf("ranks %v\n%s", pids, &j.out)
			}
			slices.Sort(pids)
			syscall.Kill(pids[i%2], syscall.SIGKILL)
			if err := j.wait(t, 20*time.Second); err == nil {
				t.Fatalf("the job ended well\n%s", &j.out)
			}
			codes[j.ProcessState.ExitCode()]++
			out := j.out.String()
			byRank := strings.Contains(out, fmt.Sprintf("(process %d on ", pids[i%2])) && strings.Contains(out, "has ended, and a step needs all ranks")
			if byRank {
				named++
			}
			// MPICH's launcher kills the other ranks at once, often before they have said it.
			if !byRank && !strings.Contains(out, fmt.Sprintf("PID %d RUNNING AT", pids[i%2])) {
				t.Errorf("neither a rank nor the launcher names the killed process %d:\n%s", pids[i%2], out)
			}
		}
		t.Logf("%d of %d killed ranks named by the other, the rest by the launcher; its codes: %v", named, times, codes)
	})
}

// TestMPISignal stops one rank: all stop at one step, with a checkpoint.
func TestMPISignal(t *testing.T) {
	eachLauncher(t, func(t *testing.T, program string, start func(int, ...string) *mpiJob) {
		root := t.TempDir()
		j := start(2, append(longRun(root), "--ranks", "mpi")...)
		manifest := filepath.Join(root, "hm", "checkpoints", "last.safetensors")
		for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(manifest); err == nil {
				break
			}
		}
		pids := j.ranks()
		if len(pids) != 2 {
			t.Fatalf("ranks %v\n%s", pids, &j.out)
		}
		syscall.Kill(max(pids[0], pids[1]), syscall.SIGUSR1)
		err := j.wait(t, 20*time.Second)
		out, _ := exec.Command(program, "sweep", "status", root).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "1 interrupted") || !strings.Contains(j.out.String(), "interrupted; the checkpoint is written") {
			t.Errorf("%v, status %s\n%s", err, out, &j.out)
		}
		t.Logf("the launcher ended with %d; %s", j.ProcessState.ExitCode(), out)
	})
}

func TestMPIRefusals(t *testing.T) {
	eachLauncher(t, func(t *testing.T, program string, start func(int, ...string) *mpiJob) {
		root := t.TempDir()
		mixed := []string{"1", "env", "TERCET_KERNEL=generic", program}
		for want, j := range map[string]*mpiJob{
			"3 ranks do not divide the 4 shards": start(3, append(mpiArgs(mpiRuns[0], root, 1), "--ranks", "mpi")...),
			"the ranks do not have the same kernel level": start(1, append(append(append(mpiArgs(mpiRuns[0], root, 1), "--ranks", "mpi", ":", "-n"), mixed...),
				append(mpiArgs(mpiRuns[0], root, 1), "--ranks", "mpi")...)...),
		} {
			if err := j.wait(t, 30*time.Second); err == nil || !strings.Contains(j.out.String(), want) {
				t.Errorf("%v, want %q\n%s", err, want, &j.out)
			}
		}
		if list, _ := os.ReadDir(root); len(list) > 0 {
			t.Errorf("a refused job leaves %v", list)
		}
	})
}
