//go:build unix

package fsx

import (
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Map returns the first size bytes of f in memory that the system fills from the file as it
// is read, and may take back. What is written there stays with the process. The memory is
// never given back, and the file must not become shorter: reading what is gone ends the
// program.
func Map(f *os.File, size int64) ([]byte, error) {
	if size > math.MaxInt {
		return nil, unix.EFBIG
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
}
