package run

import (
	"errors"
	"fmt"
	"os"
	"time"

	"tercet/internal/fsx"
	"tercet/internal/scheduler"
)

// errUnlocked is wrapped when a run's lock was removed or replaced under it.
var errUnlocked = errors.New("the lock of the run was removed or replaced while this process was working on it, and another process may work on it now")

// BusyError says that another process is working on a run.
type BusyError struct {
	Dir string
	By  string // where that process is, as scheduler.Self says; "" where it has not said so
}

// Who says which process it is, without the directory.
func (e *BusyError) Who() string {
	if e.By == "" {
		return ErrBusy.Error()
	}
	return fmt.Sprintf("%v (%s)", ErrBusy, e.By)
}

func (e *BusyError) Error() string { return e.Who() + ": " + e.Dir }

// Unwrap returns ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// A lock that is held is tried again so often: Locked holds it for a moment.
const (
	tries     = 5
	betweenIt = 10 * time.Millisecond
)

// Lock makes this process the only one that works on the run, or returns a *BusyError. The
// file says which process that is.
func (r *Run) Lock() error {
	if r.lock != nil {
		return nil
	}
	f, err := os.OpenFile(r.Path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	busy, err := fsx.Lock(f)
	for i := 1; busy && i < tries; i++ {
		time.Sleep(betweenIt)
		busy, err = fsx.Lock(f)
	}
	switch {
	case busy:
		defer f.Close()
		return &BusyError{r.Dir, holder(f)}
	case err != nil:
		f.Close()
		return fmt.Errorf("run directory: cannot lock %s: %w; runs need a file system that has locks", f.Name(), err)
	}
	if r.lock = f; !r.holdsLock() { // removed between opening and locking it
		r.Close()
		return &BusyError{r.Dir, ""}
	}
	r.sign(scheduler.Self(os.Getenv))
	return nil
}

// sign writes into the lock who holds it. A lock that cannot be written, on a full disk,
// is a lock nevertheless: the text is for messages alone.
func (r *Run) sign(who string) {
	if r.lock.Truncate(0) == nil {
		r.lock.WriteAt([]byte(who), 0)
	}
}

// maxHolder is how much of a lock is read, in bytes.
const maxHolder = 512

// holder is what the lock says of the process that holds it; "" for an empty one.
func holder(f *os.File) string {
	text := make([]byte, maxHolder)
	n, _ := f.ReadAt(text, 0) // a short file ends in an error, too
	return scheduler.Readable(string(text[:n]))
}

// Use says to other processes, until Close, that this one reads the run. Any number may, also
// while it is trained. Where files cannot be locked, or are in an archive, it does nothing.
func (r *Run) Use() {
	f, err := os.Open(r.Path("config.yaml"))
	if err != nil {
		return
	}
	if fsx.Share(f) != nil {
		f.Close()
		return
	}
	r.used = f
}

// InUse reports whether a process reads the run in dir, as far as Use could say so.
func InUse(dir string) bool {
	f, err := os.Open((&Run{Dir: dir}).Path("config.yaml"))
	if err != nil {
		return false
	}
	defer f.Close()
	busy, _ := fsx.Lock(f)
	return busy
}

// Close gives up the lock, and what Use has said.
func (r *Run) Close() {
	if r.used != nil {
		r.used.Close()
		r.used = nil
	}
	if r.lock != nil {
		r.sign("")
		r.lock.Close()
		r.lock = nil
	}
}

// Locked reports whether a process is working on the run in dir, and which one the lock
// names: that, or the last one if it was killed. Another process that wants the run at
// this moment waits.
func Locked(dir string) (held bool, by string, err error) {
	f, err := os.Open((&Run{Dir: dir}).Path("lock"))
	if errors.Is(err, os.ErrNotExist) {
		return false, "", nil // no process has begun, or the files were copied without it
	}
	if err != nil {
		return false, "", err
	}
	defer f.Close()
	by = holder(f)
	held, err = fsx.Held(f)
	return held, by, err
}

// locked returns errUnlocked where this process has locked the run and the lock file is
// not the one that it holds any more. Nothing may be written then.
func (r *Run) locked() error {
	if r.lock == nil || r.holdsLock() {
		return nil
	}
	return fmt.Errorf("%w: %s; nothing more was written: the run can be resumed from its last checkpoint", errUnlocked, r.Path("lock"))
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
