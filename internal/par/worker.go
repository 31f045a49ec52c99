package par

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// worker is a thread that helps callers of Do. It lives as long as the program.
//
// Its inbox is a word that the worker and a caller write in turn: handing over a job moves
// one cache line to and fro, which takes a fraction of a microsecond. A channel moves many.
type worker struct {
	inbox atomic.Pointer[job] // a mark, or the job that the worker has or had
	wake  chan struct{}
	id    int
	_     [104]byte // no other worker's words in these cache lines
}

// Marks of an inbox: the worker looks for a job, sleeps, or takes one from the queue. With
// the last one, and with a job, it is at work and can be given no other.
var looking, asleep, leaving job

var (
	workers atomic.Pointer[[]*worker] // in the order of their numbers, from 1 on
	hiring  sync.Mutex
	// queue has jobs for workers that were at work when these were handed out. It is short:
	// who takes one late finds no chunk left.
	queue = make(chan *job, 16)
)

// workerPolls is how often a worker looks for a job before it sleeps: for about a
// millisecond. A training step's loops follow one another at shorter distances, and to put
// a thread to sleep and wake it takes as long as many of them.
const workerPolls = 1 << 18

// yieldPolls is after how many of them it lets other threads of the system have the
// processor, some ten microseconds: two programs with two threads each on two processors
// would otherwise take turns at waiting.
const yieldPolls = 1 << 11

// polling is how many workers look for a job without sleeping: one fewer than there are
// processors at most. More would take the processors from the threads that have work.
var polling, processors = atomic.Int64{}, int64(runtime.GOMAXPROCS(0))

// crew returns n workers or more.
func crew(n int) []*worker {
	if w := workers.Load(); w != nil && len(*w) >= n {
		return *w
	}
	hiring.Lock()
	defer hiring.Unlock()
	var all []*worker
	if w := workers.Load(); w != nil {
		all = append(all, *w...)
	}
	for len(all) < n {
		w := &worker{wake: make(chan struct{}, 1), id: len(all) + 1}
		w.inbox.Store(&leaving)
		all = append(all, w)
		go w.serve()
	}
	workers.Store(&all)
	return all
}

// hand gives j to so many workers, to those with the lowest numbers that are free, so that a
// worker gets the same span of one loop after the other. Where too few are free, it is
// queued; where the queue is full, fewer threads run it.
func (j *job) hand(helpers int) {
	j.refs.Store(1 + int64(helpers))
	for _, w := range crew(helpers) {
		if helpers == 0 {
			return
		}
		if w.give(j) {
			helpers--
		}
	}
	for ; helpers > 0; helpers-- {
		select {
		case queue <- j:
		default:
			j.refs.Add(-int64(helpers))
			return
		}
	}
}

// give hands j to the worker, if it is free.
func (w *worker) give(j *job) bool {
	for {
		mark := w.inbox.Load()
		if mark != &looking && mark != &asleep {
			return false
		}
		if w.inbox.CompareAndSwap(mark, j) {
			if mark == &asleep {
				w.wake <- struct{}{}
			}
			return true
		}
	}
}

func (w *worker) serve() {
	bind(w.id, Threads())
	for {
		j := w.next()
		j.work(1 + (w.id-1)%(len(j.spans)-1)) // span 0 is the caller's
		j.release()
	}
}

// next waits for a job.
func (w *worker) next() *job {
	w.inbox.Store(&looking)
	if j := w.poll(); j != nil {
		return j
	}
	if !w.inbox.CompareAndSwap(&looking, &asleep) {
		return w.inbox.Load()
	}
	if j := w.queued(&asleep); j != nil {
		return j
	}
	<-w.wake
	return w.inbox.Load()
}

// poll looks for a job for a while, if not too many others do; nil where none comes.
func (w *worker) poll() *job {
	for n := polling.Load(); n < processors-1; n = polling.Load() {
		if polling.CompareAndSwap(n, n+1) {
			j := w.look()
			polling.Add(-1)
			return j
		}
	}
	return nil
}

func (w *worker) look() *job {
	for i := range workerPolls {
		if j := w.inbox.Load(); j != &looking {
			return j
		}
		if j := w.queued(&looking); j != nil {
			return j
		}
		if i%yieldPolls == yieldPolls-1 {
			yield()
		}
	}
	return nil
}

// queued takes a job from the queue, nil where there is none. The mark in the inbox is taken
// away first; if a caller has replaced it by a job just then, that job is returned.
func (w *worker) queued(mark *job) *job {
	if len(queue) == 0 {
		return nil
	}
	if !w.inbox.CompareAndSwap(mark, &leaving) {
		if mark == &asleep {
			<-w.wake
		}
		return w.inbox.Load()
	}
	select {
	case j := <-queue:
		return j
	default:
		w.inbox.Store(mark)
		return nil
	}
}
