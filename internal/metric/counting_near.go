package metric

import (
	"math"
	"slices"
	"sync"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// Most items are farther from a query than its farthest relevant one, and count for nothing;
// of nearly all others it is clear between which of the query's cuts they are. Where tiles of
// bytes are fast, products of rows rounded to two bytes show this, within an error. The few
// products that an error leaves in doubt are formed one by one with the bits that they have in
// a block, so that the counts are the same.
//
// Keys here are norm[item] - 2 x.g for the Euclidean distance, as elsewhere, and the negative
// cosine where the distance is that, which elsewhere has the length of the query as factor.

// fineSide are rows of a sweep as useNear needs them.
type fineSide struct {
	rows  kernel.FineRows
	need  []float32 // half of the norm, or 0; +Inf beyond the last
	reach []float32 // half the limit of the row as a query, or the limit; -Inf for what is none
	norm  []float32 // squared length, of cosines 1

	by []float32 // scratch
}

// leastFineDim is the number of columns from which rows of two bytes are faster.
const leastFineDim = 32

// finePays reports whether products of rows of d numbers should come from two bytes first.
func finePays(d int) bool {
	return kernel.HasFineDots() && d >= leastFineDim && d <= kernel.MaxByteDim
}

// set takes rows x, and the limits of the rows as queries, or nil.
func (v *fineSide) set(s *search, x, limits []float32) {
	n := len(x) / s.d
	v.rows.Round(n, s.d, x)
	for _, p := range []*[]float32{&v.need, &v.reach, &v.norm, &v.by} {
		if cap(*p) < n+blockCols {
			*p = make([]float32, n+blockCols)
		}
		*p = (*p)[:n+blockCols]
	}
	none := float32(math.Inf(-1))
	par.For(n+blockCols, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v.need[i], v.reach[i], v.norm[i] = -none, none, 0
			if i >= n {
				continue
			}
			square, limit := kernel.SumSquares(x[i*s.d:(i+1)*s.d]), none
			if limits != nil {
				limit = limits[i]
			}
			if !s.cosine {
				v.norm[i] = float32(square)
				v.need[i], v.reach[i] = v.norm[i]/2, limit/2
				continue
			}
			v.need[i], v.norm[i], v.by[i] = 0, 1, 0
			if square >= leastSquare { // else a query that does not count
				v.by[i] = float32(1 / math.Sqrt(square))
				v.reach[i] = limit * v.by[i]
			}
		}
	})
	if s.cosine {
		v.rows.Stretch(v.by[:n])
	}
}

// fineRows takes the rows of the sweep, whose limits as queries are these. With fineCols it
// makes the sweep begin with rows of two bytes.
func (c *counting) fineRows(limits []float32) {
	if c.s.fine {
		c.rowSide = &c.sides[0]
		c.rowSide.set(c.s, c.sweep.rows, limits)
		c.begin()
	}
}

// fineCols takes the sweep's columns, with their limits as queries or nil.
func (c *counting) fineCols(limits []float32) {
	if c.s.fine {
		c.colSide = &c.sides[1]
		c.colSide.set(c.s, c.sweep.cols, limits)
		c.begin()
	}
}

// fineSame is fineRows of rows that are the columns.
func (c *counting) fineSame() {
	if c.s.fine {
		c.rowSide = c.colSide
		c.begin()
	}
}

// begin tells the sweep, once both sides are there.
func (c *counting) begin() {
	if c.rowSide == nil || c.colSide == nil {
		return
	}
	c.sweep.near, c.sweep.fineRows, c.sweep.fineCols = c, &c.rowSide.rows, &c.colSide.rows
}

// nearScratch is scratch of useNear.
type nearScratch struct {
	kernel.Nearness
	pairs            kernel.NearPairs
	reach, minusNeed [blockRows]float32
	minusReach       [blockCols]float32
	unsure           []int32
	row, col         []int32
	dot              []float32
}

// tooManyNear is the share of a block's pairs that must be near for the products of all to be
// faster.
const tooManyNear = 5

// useNear implements nearUser.
func (c *counting) useNear(b *block, lock *sync.Mutex) bool {
	scratch := c.spare.Get()
	defer c.spare.Put(scratch)
	w := &scratch.near
	cols, at := b.cols64(), b.j-c.sweep.j
	width := c.nearError(b, at, cols)
	factor, room := float32(-2), width
	if c.s.cosine {
		factor, room = -1, 2*width
	}
	for i := range b.m {
		w.reach[i] = c.rowSide.reach[b.i+i] + room
		w.minusNeed[i] = -c.rowSide.need[b.i+i]
	}
	w.Reach, w.Need = w.reach[:], c.colSide.need[b.j:]
	w.OtherReach, w.OtherNeed = w.Reach, w.Need
	if b.both {
		for j := range cols {
			w.minusReach[j] = -(c.colSide.reach[b.j+j] + room)
		}
		w.OtherReach, w.OtherNeed = w.minusNeed[:], w.minusReach[:]
	}
	c.sweep.packedFine.Near(c.sweep.fineRows, b.i, b.m, at, at+cols, &w.Nearness, &w.pairs)
	if len(w.pairs.Row) > b.m*b.n/tooManyNear {
		return false
	}
	w.unsure = slices.Grow(w.unsure[:0], len(w.pairs.Row))[:len(w.pairs.Row)]
	p := kernel.Places{Base: c.base[c.top+b.i:], Cut: c.edge}
	left := p.Count(w.pairs.Dot, w.pairs.Col, w.pairs.Row, factor, c.cols.add[b.j:], width, c.count, w.unsure)
	c.products(b, left, w)
	for k, dot := range w.dot {
		row, col := int(w.row[k]), int(w.col[k])
		c.countOne(c.top+row, float32(dot*c.cols.scale[col])+c.cols.add[col], c.first+col)
	}
	if !b.both {
		return true
	}
	lock.Lock()
	defer lock.Unlock()
	p.Base = c.base[c.first+b.j:]
	left = p.Count(w.pairs.Dot, w.pairs.Row, w.pairs.Col, factor, c.rows.add[b.i:], width, c.count, w.unsure)
	c.products(b, left, w)
	for k, dot := range w.dot {
		row, col := int(w.row[k]), int(w.col[k])
		c.countOne(c.first+col, float32(dot*c.rows.scale[row])+c.rows.add[row], c.top+row)
	}
	return true
}

// nearError bounds how far a key of a block is from the one that products give.
func (c *counting) nearError(b *block, at, cols int) float32 {
	unit := kernel.DotError(c.s.d) + 2*slack
	e := c.sweep.packedFine.Error(c.sweep.fineRows, b.i, b.m, at, at+cols)
	if c.s.cosine {
		return float32(2 * (e + 2*unit))
	}
	most := float64(kernel.MaxAbs(c.rowSide.norm[b.i:b.i+b.m])) + float64(kernel.MaxAbs(c.colSide.norm[b.j:b.j+b.n]))
	return float32((1+0x1p-20)*(2*e+float64(unit*most)) + least)
}

// products fills in the products of some of the near pairs.
func (c *counting) products(b *block, left []int32, w *nearScratch) {
	w.row, w.col = w.row[:0], w.col[:0]
	for _, e := range left {
		w.row = append(w.row, int32(b.i)+w.pairs.Row[e])
		w.col = append(w.col, int32(b.j)+w.pairs.Col[e])
	}
	w.dot = slices.Grow(w.dot[:0], len(left))[:len(left)]
	kernel.PairDots(c.s.d, c.sweep.rows, c.sweep.cols, w.row, w.col, w.dot)
}

// countOne counts one item's key for query q.
func (c *counting) countOne(q int, key float32, item int) {
	from, to := c.base[q], c.base[q+1]
	for from < to && c.cut[from] < key {
		from++
	}
	// Cuts with its key: of lower items, perhaps the item itself, and of higher ones.
	lower := from
	for lower < to && c.cut[lower] == key && int(c.index[lower]) < item {
		lower++
	}
	higher := lower
	if higher < to && c.cut[higher] == key && int(c.index[higher]) == item {
		higher++
	}
	end := higher
	for end < to && c.cut[end] == key {
		end++
	}
	add := func(v []int32, p int, n int32) {
		if p < to {
			v[p] += n
		}
	}
	add(c.count, higher, 1)
	add(c.extra, from, 1)
	add(c.extra, lower, -1)
	add(c.extra, higher, -1)
	add(c.extra, end, 1)
}
