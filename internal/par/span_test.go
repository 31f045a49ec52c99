package par

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Each chunk is claimed once, whoever claims from either end at the same time.
func TestSpanGivesEachChunkOnce(t *testing.T) {
	const from, to = 1 << 20, 1<<20 + 10_000
	var s span
	s.set(from, to)
	taken := make([]atomic.Int32, to)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for c, ok := s.take(i%2 == 1); ok; c, ok = s.take(i%2 == 1) {
				taken[c].Add(1)
			}
		})
	}
	wait.Wait()
	for c := range taken {
		want := int32(0)
		if c >= from {
			want = 1
		}
		if got := taken[c].Load(); got != want {
			t.Fatalf("chunk %d claimed %d times, want %d", c, got, want)
		}
	}
}

func TestSpanEnds(t *testing.T) {
	var s span
	s.set(mostChunks-2, mostChunks)
	if c, ok := s.take(true); !ok || c != mostChunks-1 {
		t.Errorf("the last of the largest span: %d, %v", c, ok)
	}
	if c, ok := s.take(false); !ok || c != mostChunks-2 {
		t.Errorf("its first: %d, %v", c, ok)
	}
	for _, last := range []bool{false, true} {
		if c, ok := s.take(last); ok {
			t.Errorf("an empty span gave %d", c)
		}
	}
	s.set(0, 0)
	if _, ok := s.take(true); ok {
		t.Error("an empty span at 0 gave a chunk")
	}
}

// Alone, a thread runs its own span from the front and others from the back.
func TestOrderOfOneThread(t *testing.T) {
	var j job
	var ran []int
	j.run, j.n, j.size = Func(func(lo, _ int) { ran = append(ran, lo) }), 7, 1
	j.share(7, 2)
	j.left.Store(7)
	j.work(1)
	want := []int{3, 4, 5, 6, 2, 1, 0}
	for i := range want {
		if ran[i] != want[i] {
			t.Fatalf("ran %v, want %v", ran, want)
		}
	}
	if j.state.Load() != finished {
		t.Error("not finished")
	}
}
