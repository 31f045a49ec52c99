package par

import (
	"math"
	"sync/atomic"
)

// A job's chunks are cut into as many spans as there are threads. A thread begins with the
// span of its number, from the front, and then takes what is left of others from the back.
//
// So a thread gets about the same part of each loop of a training step, and finds in its
// core's caches what it wrote in the loop before: rows of a layer's output, or the moments of
// its share of the weights. Each thread also counts in a cache line of its own; one
// counter for all would move between the cores with every chunk.

// span is a range of chunks that are not yet claimed: the first one in the upper half of the
// word, the end in the lower. It fills a cache line, and the line that processors fetch with it.
type span struct {
	word atomic.Uint64
	_    [120]byte
}

func (s *span) set(lo, hi int) { s.word.Store(uint64(lo)<<32 | uint64(hi)) }

// take claims a chunk, the first or the last one; false where none is left.
func (s *span) take(last bool) (int, bool) {
	for {
		w := s.word.Load()
		lo, hi := w>>32, w&(1<<32-1)
		if lo >= hi {
			return 0, false
		}
		next, got := w+1<<32, lo
		if last {
			next, got = w-1, hi-1
		}
		if s.word.CompareAndSwap(w, next) {
			return int(got), true
		}
	}
}

// mostChunks is how many chunks a job has at most: a span's word has room for them, and an
// int of 32 bits too.
const mostChunks = math.MaxInt32

// share cuts the chunks into equal spans.
func (j *job) share(chunks, spans int) {
	if cap(j.spans) < spans {
		j.spans = make([]span, spans)
	}
	j.spans = j.spans[:spans]
	for i := range j.spans {
		j.spans[i].set(part(i, chunks, spans), part(i+1, chunks, spans))
	}
}

// part returns i*chunks/spans, whatever the size of an int.
func part(i, chunks, spans int) int { return int(int64(i) * int64(chunks) / int64(spans)) }

// work runs chunks until none is left, those of span home first.
func (j *job) work(home int) {
	for i := range j.spans {
		s := &j.spans[(home+i)%len(j.spans)]
		ran := int64(0)
		for c, ok := s.take(i > 0); ok; c, ok = s.take(i > 0) {
			j.chunk(c)
			ran++
		}
		if ran > 0 {
			j.finish(ran)
		}
	}
}
