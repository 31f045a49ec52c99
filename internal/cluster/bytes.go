package cluster

import (
	"math"
	"sync/atomic"

	"tercet/internal/engine/kernel"
)

const (
	// Bounds of products by bytes leave a few centers of each row, whose products
	// are then taken one by one: that pays where rows are long and centers many.
	leastByteDim     = 64
	leastByteCenters = 32
	// byteShare is the share of a block's rows and centers from which all products
	// are cheaper than those left.
	byteShare = 8
)

// bytePoints replaces the products of rows and centers by bounds.
type bytePoints struct {
	use     bool // in this assignment
	forced  bool // by tests
	wait    int  // assignments without them after one in which they did not pay
	skip    int  // of those still to come
	stale   bool // rows are not those of the points
	rows    kernel.ByteRows
	columns kernel.ByteColumns
	centers kernel.ByteRows
	tried   atomic.Int64 // blocks
	loose   atomic.Int64 // blocks of which too much was left
}

// prepare decides whether an assignment uses bounds, and rounds its centers.
func (b *bytePoints) prepare(a *assignment) {
	p := a.p
	fit := kernel.HasByteDots() && p.d >= leastByteDim && a.starts[0].k >= leastByteCenters
	b.use = (fit || b.forced) && b.skip == 0 && p.d <= kernel.MaxByteDim
	b.skip = max(0, b.skip-1)
	if !b.use {
		return
	}
	b.tried.Store(0)
	b.loose.Store(0)
	if b.stale {
		b.stale = false
		b.rows.Quantize(p.n, p.d, p.x)
		b.columns.Pack(&b.rows, 0, p.n)
	}
	b.centers.Quantize(len(a.single)/p.d, p.d, a.single)
}

// bounds fills keys with lower bounds for rows [row, end), as Dots would with
// products, and widths with how much too small those of each center may be. It
// returns false where it does nothing.
func (b *bytePoints) bounds(centers, row, end int, keys, widths []float32) bool {
	if b.use {
		b.tried.Add(1)
		b.columns.Bounds(-2, &b.centers, 0, centers, row, end, keys, blockCols, widths)
	}
	return b.use
}

// tooMany reports whether too many bits of a mask of so many words are left, and
// counts the block.
func (b *bytePoints) tooMany(left, words int) bool {
	if left <= 64*words/byteShare {
		return false
	}
	b.loose.Add(1)
	return true
}

// throttle suspends the use of bounds, for longer each time, where most blocks were
// loose: as with first centers, which are rows and far longer than means.
func (b *bytePoints) throttle() {
	if !b.use {
		return
	}
	if b.skip = 0; 2*b.loose.Load() > b.tried.Load() {
		b.skip = b.wait
		b.wait = max(1, 2*b.wait)
	}
}

// closest shortens the list of centers that may be nearest to row i to those
// that may be so by products in float32. keys is scratch.
func (l *lloyd) closest(i int, list []int32, keys []float32) []int32 {
	d := l.data.d
	x := l.data.row(i)
	single := l.data.assigning.single[l.at:]
	limit := float32(math.Inf(1))
	for p, c := range list {
		keys[p] = l.low[c] - 2*kernel.Dot32(x, single[int(c)*d:(int(c)+1)*d])
		limit = min(limit, keys[p]+l.wide[c])
	}
	limit += float32(l.slope*l.data.squares[i]) + leastDoubt
	n := 0
	for p, c := range list {
		if keys[p] <= limit {
			list[n] = c
			n++
		}
	}
	return list[:n]
}
