//go:build unix

package experiment

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an advisory lock that the system drops when the process ends,
// however it ends.
func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
