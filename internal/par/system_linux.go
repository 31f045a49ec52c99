package par

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// yield lets other threads of the system have the processor first.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// machine returns the nodes of the processors that this program may use; nil where all are of
// one node, the system does not say, or EnvNUMA is "off".
var machine = sync.OnceValue(func() [][]int {
	var allowed unix.CPUSet
	if os.Getenv(EnvNUMA) == "off" || unix.SchedGetaffinity(0, &allowed) != nil {
		return nil
	}
	return nodesOf(os.DirFS("/sys/devices/system/node"), allowed.IsSet)
})

// bind keeps the calling goroutine on processors of the node that worker id of so many
// threads belongs to: see nodeFor.
func bind(id, threads int) {
	nodes := machine()
	if n := nodeFor(nodes, id, threads); n >= 0 {
		keepOn(nodes[n])
	}
}

// keepOn keeps the calling goroutine on some processors, if the system allows it.
func keepOn(processors []int) {
	var set unix.CPUSet
	for _, p := range processors {
		set.Set(p)
	}
	runtime.LockOSThread()
	if unix.SchedSetaffinity(0, &set) != nil {
		runtime.UnlockOSThread()
	}
}
