//go:build native && linux && (amd64 || arm64)

package mpi

import (
	"syscall"
	"unsafe"
)

// action is the kernel's struct sigaction: handler, flags, restorer, mask.
type action [4]uint64

// keepSignals calls f, which starts MPI, and puts back the signal handlers of this program
// that f has replaced. MPICH takes SIGUSR1, and its handler calls the former one on a
// thread's own stack, where Go's ends the process.
func keepSignals(f func()) {
	var before [65]action
	for sig := range before {
		sigaction(sig, nil, &before[sig])
	}
	f()
	for sig := range before {
		var now action
		const ignored = 1 // below are the default and what could not be read
		if sigaction(sig, nil, &now); before[sig][0] > ignored && now != before[sig] {
			sigaction(sig, &before[sig], nil)
		}
	}
}

// sigaction sets what sig does, or reads it; errors leave all as it is.
func sigaction(sig int, to, from *action) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(from)), 8, 0, 0)
}
