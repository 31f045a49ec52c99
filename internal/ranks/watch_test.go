package ranks

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A process that is killed is noticed, also while it is a zombie, and one rank reports it.
func TestWatch(t *testing.T) {
	t.Parallel()
	if machine() == "" {
		t.Skip("this system does not say which processes run")
	}
	var others [2]*exec.Cmd
	for i := range others {
		others[i] = exec.Command("sleep", "600")
		if err := others[i].Start(); err != nil {
			t.Fatal(err)
		}
		defer others[i].Wait()
		defer others[i].Process.Kill()
	}
	near := []peer{{0, "zero", others[0].Process.Pid, ""}, {2, "two", os.Getpid(), ""}, {5, "five", others[1].Process.Pid, ""}}
	type end struct {
		p      peer
		report bool
	}
	ended := make(chan end, 1)
	see := func(p peer, report bool) { ended <- end{p, report} }
	stop := watch(near, 2, time.Millisecond, see)
	time.Sleep(20 * time.Millisecond)
	stop()
	if len(ended) > 0 {
		t.Fatal("an end is seen where all run")
	}
	defer watch(near, 2, time.Millisecond, see)()
	others[1].Process.Kill()
	if e := <-ended; e.p.Rank != 5 || e.report {
		t.Errorf("%+v, want rank 5, reported by rank 0", e)
	}
	defer watch(near[:2], 2, time.Millisecond, see)()
	others[0].Process.Kill()
	if e := <-ended; e.p.Self != "zero" || !e.report {
		t.Errorf("%+v, want rank 0, reported here", e)
	}
}
