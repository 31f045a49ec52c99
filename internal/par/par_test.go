package par

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestDoCoversEachIndexOnceInFixedChunks(t *testing.T) {
	defer SetThreads(0)
	for _, threads := range []int{1, 2, 3, 8} {
		SetThreads(threads)
		for _, n := range []int{0, 1, 2, 7, 64, 1000} {
			for _, size := range []int{-1, 1, 3, 64, 5000} {
				seen := make([]int32, n)
				For(n, size, func(lo, hi int) {
					s := max(size, 1)
					if lo%s != 0 || hi != min(lo+s, n) {
						t.Errorf("threads %d n %d size %d: chunk [%d,%d)", threads, n, size, lo, hi)
					}
					for i := lo; i < hi; i++ {
						atomic.AddInt32(&seen[i], 1)
					}
				})
				for i, c := range seen {
					if c != 1 {
						t.Fatalf("threads %d n %d size %d: index %d ran %d times", threads, n, size, i, c)
					}
				}
			}
		}
	}
}

func TestDoNests(t *testing.T) {
	defer SetThreads(0)
	SetThreads(4)
	var total atomic.Int64
	For(50, 1, func(lo, hi int) {
		For(20, 1, func(lo, hi int) { total.Add(int64(hi - lo)) })
	})
	if total.Load() != 1000 {
		t.Fatalf("ran %d of 1000", total.Load())
	}
}

func TestDoRaisesPanicInCaller(t *testing.T) {
	defer SetThreads(0)
	SetThreads(3)
	defer func() {
		if v := recover(); v != "boom" {
			t.Fatalf("recovered %v", v)
		}
	}()
	For(100, 1, func(lo, hi int) {
		if lo == 37 {
			panic("boom")
		}
	})
	t.Fatal("no panic")
}

type count struct{ out [256]int }

func (c *count) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		c.out[i]++
	}
}

// AllocsPerRun would force one processor, under which helpers lag behind and
// keep jobs from the free list; so the allocations of real calls are counted.
func TestDoAllocatesNothing(t *testing.T) {
	defer SetThreads(0)
	SetThreads(2)
	c := new(count)
	for range 1000 {
		Do(256, 16, c)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 1000
	for range calls {
		Do(256, 16, c)
	}
	runtime.ReadMemStats(&after)
	if a := after.Mallocs - before.Mallocs; a > calls/20 {
		t.Fatalf("%d allocations in %d calls", a, calls)
	}
}

// Workers beyond the processors sleep at once: those that look for work would take the
// processors from those that have some.
func TestEachCoversEachIndexOnce(t *testing.T) {
	defer SetThreads(0)
	SetThreads(3)
	seen := make([]int32, 1000)
	Each(len(seen), 7, func(i int) { atomic.AddInt32(&seen[i], 1) })
	for i, c := range seen {
		if c != 1 {
			t.Fatalf("index %d ran %d times", i, c)
		}
	}
}

// summing adds its indices, times a factor, to a total.
type summing struct {
	factor int64
	total  *atomic.Int64
}

func (s *summing) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.total.Add(s.factor * int64(i))
	}
}

func TestOnceRunsTheJobAndForgetsIt(t *testing.T) {
	var total atomic.Int64
	var list Free[summing]
	Once(&list, 100, 3, summing{2, &total})
	if total.Load() != 9900 {
		t.Errorf("total %d", total.Load())
	}
	if j := list.Get(); *j != (summing{}) {
		t.Errorf("the list has %+v", *j)
	}
}

func TestFewerPollThanThereAreProcessors(t *testing.T) {
	defer SetThreads(0)
	SetThreads(33)
	most := int64(0)
	for range 300 {
		For(33, 1, func(int, int) { runtime.Gosched() })
		for range 20 {
			most = max(most, polling.Load())
			runtime.Gosched()
		}
	}
	if most >= max(processors, 1) {
		t.Errorf("%d workers looked for work at a time on %d processors", most, processors)
	}
}
