package metric

import (
	"math/bits"
	"sync"

	"tercet/internal/engine/kernel"
)

// use offers the block's columns to its rows, and its rows to its columns. A
// product is looked at where half a key, half[g] - q.g, is at most the query's
// limit.
func (s *nearest) use(b *block, lock *sync.Mutex) {
	words := b.cols64() / 64
	l := &s.lists
	kernel.Above(b.m, b.cols64(), b.dots, blockCols, l.limit[b.i:b.i+b.m], s.cols.half[b.j:b.j+b.cols64()], b.mask)
	for i := range b.m {
		q := b.i + i
		for w, m := range b.mask[i*words : (i+1)*words] {
			for ; m != 0; m &= m - 1 {
				c := w*64 + bits.TrailingZeros64(m)
				if s.self && !s.own && b.j+c == q {
					continue
				}
				l.offer(q, b.j+c, b.dots[i*blockCols+c])
			}
		}
	}
	if b.both {
		s.useColumns(b, words, lock)
	}
}

// useColumns is the mirror image of use: x >= half[row] - limit[column].
func (s *nearest) useColumns(b *block, words int, lock *sync.Mutex) {
	l := &s.lists
	minusHalf, minusLimit := b.side[:b.m], b.side[blockRows:][:b.cols64()]
	for i := range minusHalf {
		minusHalf[i] = -s.rows.half[b.i+i]
	}
	lock.Lock()
	for j := range minusLimit {
		minusLimit[j] = -l.limit[b.j+j]
	}
	lock.Unlock()
	kernel.Above(b.m, b.cols64(), b.dots, blockCols, minusHalf, minusLimit, b.mask)
	held := false
	for i := range b.m {
		for w, m := range b.mask[i*words : (i+1)*words] {
			for ; m != 0; m &= m - 1 {
				if !held {
					lock.Lock()
					held = true
				}
				c := w*64 + bits.TrailingZeros64(m)
				l.offer(b.j+c, b.i+i, b.dots[i*blockCols+c])
			}
		}
	}
	if held {
		lock.Unlock()
	}
}
