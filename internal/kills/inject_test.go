//go:build linux

package kills

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// calls are the system calls that change files or the lock.
var calls = []string{"mkdirat", "renameat", "fsync", "flock", "ftruncate", "unlinkat", "fchmodat", "close", "write", "pwrite64", "openat"}

// place is a call of a kind, of a job, at which to kill it: the when-th.
type place struct {
	job  job
	call string
	when int
}

// TestKillsAtSystemCalls kills each job at the first, second, third ... call of each
// kind, until the job ends without being killed or the time is over. Jobs come round,
// each at a place drawn from its open ones, so that any length of time covers them all.
func TestKillsAtSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace (apt-get install strace)")
	}
	b := newBench(t)
	open := map[string][]place{} // by job: the next place of each kind
	for _, j := range jobs {
		for _, call := range calls {
			open[j.name] = append(open[j.name], place{j, call, 1})
		}
	}
	counts := map[string]int{}
	for left := true; left; {
		left = false
		for _, at := range b.random.Perm(len(jobs)) {
			places := open[jobs[at].name]
			if len(places) == 0 {
				continue
			}
			left = true
			if !time.Now().Before(b.until) {
				t.Logf("%d kills in %d trials, time over; by job: %v", b.kills, b.trials, counts)
				return
			}
			k := b.random.IntN(len(places))
			if b.killAt(t, places[k]) {
				counts[jobs[at].name]++
				places[k].when++
			} else {
				open[jobs[at].name] = slices.Delete(places, k, k+1)
			}
		}
	}
	t.Logf("%d kills in %d trials: all calls; by job: %v", b.kills, b.trials, counts)
}

// killAt kills the job at the place, lets it end and compares. It is false where the
// job has no such call and ended undisturbed.
func (b *bench) killAt(t *testing.T, p place) bool {
	b.reference(t, p.job)
	dir := b.begin(t, b.refs[p.job.name])
	inject := []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + p.call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", p.call, p.when)}
	out, err := b.command(t, p.job, dir, inject).CombinedOutput()
	if !killed(err) {
		if err != nil {
			t.Errorf("%s under strace: %v\n%s", p.job.name, err, out)
		}
		return false
	}
	b.kills++
	b.finish(t, p.job, dir, fmt.Sprintf("killed at %s %d", p.call, p.when))
	return true
}
