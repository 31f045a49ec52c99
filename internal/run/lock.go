package run

import (
	"errors"
	"fmt"
	"os"
)

// ErrUnlocked is wrapped when a run's lock was removed or replaced under it.
var ErrUnlocked = errors.New("the lock of the run was removed or replaced while this process was working on it, and another process may work on it now")

// locked returns ErrUnlocked where this process has locked the run and the lock file is
// not the one that it holds any more. Nothing may be written then.
func (r *Run) locked() error {
	if r.lock == nil || r.holdsLock() {
		return nil
	}
	return fmt.Errorf("%w: %s; nothing more was written: the run can be resumed from its last checkpoint", ErrUnlocked, r.Path("lock"))
}

// holdsLock compares the lock file at its path with the open one.
func (r *Run) holdsLock() bool {
	mine, err := r.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(r.Path("lock"))
	return err == nil && os.SameFile(mine, there)
}
