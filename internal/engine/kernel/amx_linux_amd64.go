package kernel

import "syscall"

// tilesAllowed asks Linux once for the permission to use tiles: without it their first use
// ends the process. The permission is the whole process's.
func tilesAllowed() bool {
	const (
		requestPermission = 0x1023
		tileData          = 18
	)
	_, _, e := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return e == 0
}
