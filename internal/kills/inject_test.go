//go:build linux

package kills

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// calls are the system calls that change files or the lock.
var calls = []string{"mkdirat", "renameat", "fsync", "flock", "ftruncate", "unlinkat", "fchmodat", "close", "write", "pwrite64", "openat"}

// TestKillsAtSystemCalls kills each job at the first, second, third ... call of each
// kind, until the job ends without being killed or the time is over.
func TestKillsAtSystemCalls(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace (apt-get install strace)")
	}
	b := newBench(t)
	type pair struct{ job, call int }
	over := map[pair]bool{}
	n := 1
	for ; len(over) < len(jobs)*len(calls); n++ {
		for at, j := range jobs {
			for c, call := range calls {
				if over[pair{at, c}] {
					continue
				}
				if !time.Now().Before(b.until) {
					t.Logf("%d kills in %d trials; time over at call %d of each kind (%s of %s)", b.kills, b.trials, n, call, j.name)
					return
				}
				b.reference(t, j)
				dir := b.begin(t, b.refs[j.name])
				inject := []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, n)}
				cmd := b.command(t, j, dir, inject)
				out, err := cmd.CombinedOutput()
				if !killed(err) {
					over[pair{at, c}] = true
					if err != nil {
						t.Errorf("%s under strace: %v\n%s", j.name, err, out)
					}
					continue
				}
				b.kills++
				b.finish(t, j, dir, fmt.Sprintf("killed at %s %d", call, n))
			}
		}
	}
	t.Logf("%d kills in %d trials: all calls up to number %d", b.kills, b.trials, n-1)
}
