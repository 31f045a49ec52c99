package cluster

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	blockCols = 128 // rows of data whose keys are formed at a time, as columns
	taskRows  = 4 * blockCols
)

// assignment gives each row its nearest center, in several starts at once: the
// keys of all their centers come from one product with a block of rows, and are
// used while they are in the cache.
type assignment struct {
	p      *points
	starts []*lloyd
	single []float32 // the centers of all starts in float32
}

// change is a row that has another label than before.
type change struct{ row, from int32 }

func (a *assignment) run(ctx context.Context, starts []*lloyd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.starts, a.single = starts, a.single[:0]
	for _, l := range starts {
		l.prepare(len(a.single))
		for _, v := range l.center {
			a.single = append(a.single, float32(v))
		}
	}
	a.p.bytes.prepare(a)
	par.Do(ceilDiv(a.p.n, taskRows), 1, a)
	a.p.bytes.throttle()
	for _, l := range starts {
		l.count()
	}
	a.starts = nil
	return nil
}

// Run does tasks [lo, hi), each taskRows rows.
func (a *assignment) Run(lo, hi int) {
	p := a.p
	centers := len(a.single) / p.d
	w := p.scratch(centers)
	for t := lo; t < hi; t++ {
		for _, l := range a.starts {
			l.changes[t] = l.changes[t][:0]
		}
		for row := t * taskRows; row < min((t+1)*taskRows, p.n); row += blockCols {
			end := min(row+blockCols, p.packed.Cols())
			all := w.keys[:centers*blockCols]
			bounds := p.bytes.bounds(centers, row, end, all, w.widths[:centers])
			if !bounds {
				p.packed.Dots(centers, a.single, p.d, row, end, -2, all, blockCols)
			}
			for _, l := range a.starts {
				if !l.choose(t, row, end-row, all[l.at/p.d*blockCols:], bounds, w) {
					p.packed.Dots(centers, a.single, p.d, row, end, -2, all, blockCols)
					bounds = false
					l.choose(t, row, end-row, all[l.at/p.d*blockCols:], bounds, w)
				}
			}
		}
	}
	p.scratches.Put(w)
}

// prepare sets what the choice needs to know of the centers, which begin at
// number at of the assignment's.
//
// A key is ||c||^2 - 2 x.c. What float32 makes of it is wrong by at most
// g*2*||x||*||c|| for the product and the last sums, and 8*2^-24*||c||^2 for the
// square. For any positive s the former is at most g*(s*||x||^2 + ||c||^2/s), a
// part of the row and one of the center, so that a center far away widens no
// other's bounds; s is the ratio of usual lengths, where nothing is lost.
func (l *lloyd) prepare(at int) {
	d := l.data.d
	l.at = at
	l.squares = l.squares[:0]
	for c := range l.k {
		var s float64
		for _, v := range l.center[c*d : (c+1)*d] {
			s += float64(v * v)
		}
		l.squares = append(l.squares, s)
	}
	const u = 0x1p-24
	g := kernel.DotError(d) + 8*u
	l.sorted = append(l.sorted[:0], l.squares...)
	slices.Sort(l.sorted)
	ratio := math.Sqrt(l.sorted[l.k/2]) / (l.data.usual + math.SmallestNonzeroFloat32)
	ratio = max(0x1p-20, min(0x1p20, ratio))
	for c, s := range l.squares {
		e := float64((g/ratio + 8*u) * s)
		l.low[c], l.wide[c] = float32(s-e), float32(2*e)
	}
	l.slope = float32((1 + 0x1p-10) * 2 * g * ratio)
}

// leastDoubt is added to every doubt, for what underflows.
const leastDoubt = 0x1p-119

// choose gives the cols rows from row on their nearest centers by keys
// (k, blockCols), and notes those that change. Keys that are bounds may be too
// small by the center's width; if they leave too many centers, choose does
// nothing and returns false.
func (l *lloyd) choose(task, row, cols int, keys []float32, bounds bool, w *blockScratch) bool {
	upper := w.upper[:l.k]
	for c, v := range l.low {
		upper[c] = v + l.wide[c]
		if bounds {
			upper[c] += w.widths[l.at/l.data.d+c]
		}
	}
	square := l.data.squares[row : row+cols]
	least := kernel.LeastKeys{Rows: l.k, Cols: cols, X: keys, LD: blockCols, B: upper,
		Old: l.padded[row:], Index: w.index, Value: w.value, Moved: w.moved}
	least.Find()
	// The least upper bound is what lower bounds are compared with.
	for j, v := range w.value[:cols] {
		w.limit[j] = v + (float32(l.slope*square[j]) + leastDoubt)
	}
	if n := l.k * cols / 64; cap(w.mask) < n {
		w.mask = make([]uint64, n)
	}
	mask := w.mask[:l.k*cols/64]
	kernel.Below(l.k, cols, keys, blockCols, l.low, w.limit[:cols], mask)
	if left := several(mask, cols/64, w.near); bounds && l.data.bytes.tooMany(left, len(mask)) {
		return false
	}
	for v := range cols / 64 {
		m := w.moved[v] | w.near[v]
		if beyond := row + (v+1)*64 - l.data.n; beyond > 0 {
			m &= math.MaxUint64 >> min(beyond, 64)
		}
		if near := w.near[v] & m; near != 0 {
			w.lists.gather(l.k, mask[v:], cols/64, near)
		}
		for ; m != 0; m &= m - 1 {
			j := bits.TrailingZeros64(m)
			i, at := row+v*64+j, w.index[v*64+j]
			if w.near[v]>>j&1 == 1 {
				list := w.lists.of(j)
				if bounds {
					list = l.closest(i, list, w.room(l.k))
				}
				at = l.exactly(i, list)
			}
			if at != l.labels[i] {
				if !l.fresh {
					l.changes[task] = append(l.changes[task], change{int32(i), l.labels[i]})
				}
				l.labels[i] = at
			}
		}
	}
	return true
}

// exactly returns the nearest of the listed centers to row i, in float64, the
// lower of equals.
func (l *lloyd) exactly(i int, list []int32) int32 {
	if len(list) == 1 {
		return list[0]
	}
	best, at := math.Inf(1), int32(0)
	for _, c := range list {
		if e := l.exact(i, int(c)); e < best {
			best, at = e, c
		}
	}
	return at
}

// exact returns the squared distance of row i to center c, in float64.
func (l *lloyd) exact(i, c int) float64 {
	d := l.data.d
	return kernel.SquaredDistanceTo(l.data.row(i), l.center[c*d:(c+1)*d])
}

// count brings the sizes up to date with the changes.
func (l *lloyd) count() {
	if l.fresh {
		l.fresh, l.changed = false, l.data.n
		for _, c := range l.labels {
			l.size[c]++
		}
		return
	}
	l.changed = 0
	for _, list := range l.changes {
		l.changed += len(list)
		for _, c := range list {
			l.size[c.from]--
			l.size[l.labels[c.row]]++
		}
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
