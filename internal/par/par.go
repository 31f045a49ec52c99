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
	chunks  int64
	next    atomic.Int64 // next chunk to claim
	left    atomic.Int64 // chunks not yet finished
	refs    atomic.Int64 // holders: the caller and each queued hand-out
	done    chan struct{}
	fault   atomic.Pointer[fault]
}

type fault struct{ value any }

var (
	threads atomic.Int64
	// queue is short: hand-outs that no worker has taken keep their job from the
	// free list, and a worker that lags this far behind would find no work left.
	queue   = make(chan *job, 16)
	spare   Free[job]
	mu      sync.Mutex
	workers int // started so far; they outlive SetThreads
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

// How often a thread that waits looks again before it goes to sleep: a worker
// for its next job, some hundred microseconds, and the caller of Do for the last
// chunks of others, some fifty. A training step's loops follow one another at
// shorter distances, and to put a thread to sleep and wake it takes as long as
// many of them.
const (
	workerPolls = 1 << 15
	callerPolls = 1 << 16
)

// polling is how many workers look for a job without sleeping: one fewer than there are
// processors at most. More would take the processors from the threads that have work.
var polling, processors = atomic.Int64{}, int64(runtime.GOMAXPROCS(0))

// take waits for a job.
func take() *job {
	for n := polling.Load(); n < processors-1; n = polling.Load() {
		if !polling.CompareAndSwap(n, n+1) {
			continue
		}
		j := poll()
		polling.Add(-1)
		if j != nil {
			return j
		}
		break
	}
	return <-queue
}

// poll looks for a job for a while; nil where none comes.
func poll() *job {
	for range workerPolls {
		select {
		case j := <-queue:
			return j
		default:
		}
	}
	return nil
}

func ensure(n int) {
	mu.Lock()
	for ; workers < n; workers++ {
		go func() {
			for {
				j := take()
				j.work()
				j.release()
			}
		}()
	}
	mu.Unlock()
}

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
	if helpers < 1 {
		for lo := 0; lo < n; lo += size {
			r.Run(lo, min(lo+size, n))
		}
		return
	}
	ensure(helpers)
	j := spare.Get()
	if j.done == nil {
		j.done = make(chan struct{}, 1)
	}
	j.run, j.n, j.size, j.chunks = r, n, size, int64(chunks)
	j.next.Store(0)
	j.left.Store(int64(chunks))
	j.refs.Store(1)
	j.fault.Store(nil)
	for range helpers {
		j.refs.Add(1)
		select {
		case queue <- j:
		default: // all busy: the caller does the work
			j.refs.Add(-1)
		}
	}
	j.work()
	for i := 0; i < callerPolls && j.left.Load() > 0; i++ {
	}
	<-j.done
	f := j.fault.Load()
	j.release()
	if f != nil {
		panic(f.value)
	}
}

// work claims chunks until none is left. Whoever finishes the last one signals.
func (j *job) work() {
	for {
		i := j.next.Add(1) - 1
		if i >= j.chunks {
			return
		}
		j.chunk(int(i))
		if j.left.Add(-1) == 0 {
			j.done <- struct{}{}
		}
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
