package metric

import (
	"math/bits"
	"sync"

	"tercet/internal/engine/kernel"
)

// tooMany is the share of a block's pairs that must be left by bounds for the
// products of all to be cheaper than those of the pairs left.
const tooMany = 12

// use offers the block's columns to its rows, and its rows to its columns. A
// pair is looked at where half a key, half[g] - q.g, is at most the query's
// limit; where that is so by a bound, the product itself decides.
func (s *nearest) use(b *block, lock *sync.Mutex) {
	l := &s.lists
	rows := func() {
		kernel.Above(b.m, b.cols64(), b.dots, blockCols, l.limit[b.i:b.i+b.m], s.cols.half[b.j:b.j+b.cols64()], b.mask)
	}
	rows()
	if s.loosened(b) {
		rows()
	}
	words := b.cols64() / 64
	for i := range b.m {
		q := b.i + i
		for w, m := range b.mask[i*words : (i+1)*words] {
			for ; m != 0; m &= m - 1 {
				c := w*64 + bits.TrailingZeros64(m)
				if s.self && !s.own && b.j+c == q {
					continue
				}
				l.offer(q, b.j+c, s.product(b, i, c))
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
	if s.loosened(b) {
		kernel.Above(b.m, b.cols64(), b.dots, blockCols, minusHalf, minusLimit, b.mask)
	}
	held := false
	for i := range b.m {
		for w, m := range b.mask[i*words : (i+1)*words] {
			for ; m != 0; m &= m - 1 {
				c := w*64 + bits.TrailingZeros64(m)
				dot := s.product(b, i, c)
				if !held {
					lock.Lock()
					held = true
				}
				l.offer(b.j+c, b.i+i, dot)
			}
		}
	}
	if held {
		lock.Unlock()
	}
}

// loosened turns bounds into products where the mask shows that they left too
// many pairs.
func (s *nearest) loosened(b *block) bool {
	if !b.bounds {
		return false
	}
	left := 0
	for _, m := range b.mask[:b.m*b.cols64()/64] {
		left += bits.OnesCount64(m)
	}
	if left <= b.m*b.n/tooMany {
		return false
	}
	s.sweep.looseBounds(b)
	return true
}

// product returns that of row i and column c of the block.
func (s *nearest) product(b *block, i, c int) float32 {
	if !b.bounds {
		return b.dots[i*blockCols+c]
	}
	d := s.sweep.d
	row, col := b.i+i, b.j+c
	return kernel.Dot32(s.sweep.rows[row*d:(row+1)*d], s.sweep.cols[col*d:(col+1)*d])
}
