package ranks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// peer is a rank as the others of its machine see it.
type peer struct {
	Rank    int
	Self    string // which process it is
	Process int
	Machine string // ranks of one can see each other's processes
}

// Watch lets each rank notice that another one on its machine has ended, and calls lost with
// it on the lowest rank there that is left, quiet on the others; neither is to return. A
// launcher ends the job, too, but does not say it in the words of this program, and may take
// longer. All ranks call Watch, and stop, which waits for all, before they may end.
func (t *Team) Watch(lost func(*LostError), quiet func()) (stop func()) {
	me := peer{t.Rank(), t.self, os.Getpid(), machine()}
	var near []peer
	for _, text := range Strings(t, encoded(me)) {
		p := peer{}
		json.Unmarshal([]byte(text), &p) // what encoded has written
		if p.Machine == me.Machine && me.Machine != "" {
			near = append(near, p)
		}
	}
	stopping := watch(near, me.Rank, 20*time.Millisecond, func(p peer, report bool) {
		if report {
			lost(&LostError{p.Rank, p.Self})
		}
		quiet()
	})
	return func() {
		stopping()
		t.Allgather([]byte{0}, make([]byte, t.Size()))
	}
}

// watch looks at the peers but me until it is stopped or one has ended; report is whether no
// lower one is left.
func watch(near []peer, me int, every time.Duration, ended func(p peer, report bool)) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	look := func() bool {
		for _, p := range near {
			if p.Rank == me || runs(p.Process) {
				continue
			}
			report := true
			for _, q := range near {
				report = report && (q.Rank >= me || !runs(q.Process))
			}
			ended(p, report)
			return true
		}
		return false
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if look() {
					return
				}
			}
		}
	}()
	return func() {
		close(end)
		<-done
	}
}

// runs reports whether a process is there and no zombie.
func runs(process int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return !os.IsNotExist(err)
	}
	// "pid (name) state ...", where a name may have parentheses.
	rest := bytes.TrimSpace(b[bytes.LastIndexByte(b, ')')+1:])
	return len(rest) == 0 || rest[0] != 'Z' && rest[0] != 'X'
}

// machine is the same for processes that see each other by number, and "" where the system
// does not say it.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + " " + space
}
