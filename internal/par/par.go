// Package par runs loops on a fixed set of workers.
//
// Work is split over outputs in chunks whose borders depend only on the
// problem's size, never on the number of threads or on timing. A loop whose
// chunks write disjoint outputs therefore gives the same bits with any number
// of threads. A steady-state call allocates nothing.
package par

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Runner is a loop body over the half-open index range [lo, hi).
type Runner interface{ Run(lo, hi int) }

// Func adapts a function to Runner. Its closure is allocated by the caller: in
// code that must not allocate, pass a long-lived struct that has a Run method.
type Func func(lo, hi int)

// Run calls f.
func (f Func) Run(lo, hi int) { f(lo, hi) }

// job is one call of Do, shared by the caller and the workers that help.
type job struct {
	run     Runner
	n, size int
	spans   []span
	_       uint64       // what all threads write lies in another cache line
	left    atomic.Int64 // chunks not yet finished
	state   atomic.Int32 // running, awaited or finished
	refs    atomic.Int64 // holders: the caller and each worker that has it or will
	done    chan struct{}
	fault   atomic.Pointer[fault]
}

const (
	running = iota
	awaited // by a caller that sleeps
	finished
)

type fault struct{ value any }

var (
	threads atomic.Int64
	spare   Free[job]
)

func init() { threads.Store(int64(runtime.GOMAXPROCS(0))) }

// Threads returns the number of threads that Do uses, the caller included.
func Threads() int { return int(threads.Load()) }

// SetThreads sets the number of threads that Do uses, the caller included;
// n < 1 means one per processor. It does not change any result.
func SetThreads(n int) {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	threads.Store(int64(n))
}

// callerPolls is how often the caller of Do looks whether others have finished their last
// chunks before it sleeps: some fifty microseconds.
const callerPolls = 1 << 16

// For calls f on [0, n) in chunks of size, on all threads, and returns when all
// are done. size < 1 counts as 1. A panic in f is raised again in the caller.
func For(n, size int, f func(lo, hi int)) { Do(n, size, Func(f)) }

// Each is For with a function of one index, for work that is more than a call.
func Each(n, size int, f func(i int)) {
	For(n, size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// Do is For with a Runner: it allocates nothing in the steady state. Chunk i is
// exactly [i*size, min((i+1)*size, n)). Calls may nest.
func Do(n, size int, r Runner) {
	if n <= 0 {
		return
	}
	if size < 1 {
		size = 1
	}
	chunks := (n + size - 1) / size
	helpers := min(Threads(), chunks) - 1
	if helpers < 1 || chunks > mostChunks {
		for lo := 0; lo < n; lo += size {
			r.Run(lo, min(lo+size, n))
		}
		return
	}
	j := spare.Get()
	if j.done == nil {
		j.done = make(chan struct{}, 1)
	}
	j.run, j.n, j.size = r, n, size
	j.share(chunks, helpers+1)
	j.left.Store(int64(chunks))
	j.state.Store(running)
	j.fault.Store(nil)
	j.hand(helpers)
	j.work(0)
	j.wait()
	f := j.fault.Load()
	j.release()
	if f != nil {
		panic(f.value)
	}
}

// wait returns when all chunks are finished.
func (j *job) wait() {
	for range callerPolls {
		if j.state.Load() == finished {
			return
		}
	}
	if j.state.CompareAndSwap(running, awaited) {
		<-j.done
	}
}

// finish counts chunks as finished. Whoever finishes the last one wakes the caller.
func (j *job) finish(chunks int64) {
	if j.left.Add(-chunks) == 0 && j.state.Swap(finished) == awaited {
		j.done <- struct{}{}
	}
}

func (j *job) chunk(i int) {
	defer func() {
		if v := recover(); v != nil {
			j.fault.CompareAndSwap(nil, &fault{v})
		}
	}()
	lo := i * j.size
	j.run.Run(lo, min(lo+j.size, j.n))
}

// release gives the job back once no queued hand-out can touch it any more.
func (j *job) release() {
	if j.refs.Add(-1) == 0 {
		j.run = nil
		spare.Put(j)
	}
}

// Free is a free list: Get returns a value put back earlier, or a new zero
// value. Unlike sync.Pool it never drops one, so that code which reuses its
// scratch allocates nothing after warm-up. The zero Free is ready for use.
type Free[T any] struct {
	mu   sync.Mutex
	list []*T
}

// Get takes a value from the list, as its last user left it.
func (f *Free[T]) Get() *T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.list); n > 0 {
		v := f.list[n-1]
		f.list = f.list[:n-1]
		return v
	}
	return new(T)
}

// Put gives v back; the caller must not use it afterwards.
func (f *Free[T]) Put(v *T) {
	f.mu.Lock()
	f.list = append(f.list, v)
	f.mu.Unlock()
}

// Once is Do with a copy of job that is taken from the list, and goes back as zero: no
// allocation in the steady state.
func Once[T any, P interface {
	*T
	Runner
}](f *Free[T], n, size int, job T) {
	j := f.Get()
	*j = job
	Do(n, size, P(j))
	var zero T
	*j = zero
	f.Put(j)
}
