package fsx

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes a lock that the system drops when the process ends, however it
// ends. busy says that another process holds it.
func Lock(f *os.File) (busy bool, err error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}
