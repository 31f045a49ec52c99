package par

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// meet returns a function of which each call waits for n calls in all, and reports a call
// that waits too long.
func meet(t *testing.T, n int) func(lo, hi int) {
	var met sync.WaitGroup
	met.Add(n)
	all := make(chan struct{})
	go func() { met.Wait(); close(all) }()
	return func(int, int) {
		met.Done()
		select {
		case <-all:
		case <-time.After(20 * time.Second):
			t.Error("a thread waits for another one that does not come")
		}
	}
}

// marked waits until all workers have a mark.
func marked(t *testing.T, mark *job) {
	end := time.Now().Add(20 * time.Second)
	for _, w := range *workers.Load() {
		for w.inbox.Load() != mark {
			if time.Now().After(end) {
				t.Fatalf("worker %d does not get the mark", w.id)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// Workers that have gone to sleep come, too: each chunk needs a thread of its own.
func TestSleepingWorkersWake(t *testing.T) {
	defer SetThreads(0)
	SetThreads(4)
	for range 3 {
		For(4, 1, meet(t, 4))
		marked(t, &asleep)
	}
}

// A worker that is at work when a job is handed out takes it from the queue afterwards.
func TestWorkersAtWorkComeLater(t *testing.T) {
	defer SetThreads(0)
	SetThreads(2)
	For(2, 1, meet(t, 2))
	marked(t, &asleep)
	// All but worker 1 are kept away: only it is left for both jobs.
	var others []*worker
	for _, w := range (*workers.Load())[1:] {
		if !w.inbox.CompareAndSwap(&asleep, &leaving) {
			t.Fatalf("worker %d is not asleep", w.id)
		}
		others = append(others, w)
	}
	defer func() {
		for _, w := range others {
			w.inbox.Store(&asleep)
		}
	}()
	begun, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		For(2, 1, func(int, int) { begun <- struct{}{}; <-end })
	})
	<-begun
	<-begun // the caller and worker 1 are at work
	go func() {
		for len(queue) == 0 {
			runtime.Gosched()
		}
		close(end)
	}()
	For(2, 1, meet(t, 2))
	first.Wait()
}
