package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes a lock that the system drops when the process ends, however it
// ends. busy says that another process holds it.
func Lock(f *os.File) (busy bool, err error) {
	err = lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}

// Share takes a lock that any number of processes can hold together, and that the system drops
// when the process ends. It fails where Lock has been called.
func Share(f *os.File) error { return lock(f, 0) }

// Held reports whether a process holds the lock of the file. Lock fails while it looks.
func Held(f *os.File) (bool, error) {
	err := lock(f, 0)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

func lock(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
}
