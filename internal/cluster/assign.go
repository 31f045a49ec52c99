package cluster

import (
	"context"
	"math"
	"math/bits"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

const (
	blockCols = 128 // rows of data whose keys are formed at a time, as columns
	taskRows  = 4 * blockCols
)

// assignment gives each row its nearest centre, in several starts at once: the
// keys of all their centres come from one product with a block of rows, and are
// used while they are in the cache.
type assignment struct {
	p      *points
	starts []*lloyd
	single []float32 // the centres of all starts in float32
	alone  [1]*lloyd
}

// change is a row that has another label than before.
type change struct{ row, from int32 }

func (a *assignment) one(ctx context.Context, l *lloyd) error {
	a.alone[0] = l
	return a.run(ctx, a.alone[:])
}

func (a *assignment) run(ctx context.Context, starts []*lloyd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.starts, a.single = starts, a.single[:0]
	for _, l := range starts {
		l.prepare()
		for _, v := range l.centre {
			a.single = append(a.single, float32(v))
		}
	}
	par.Do(ceilDiv(a.p.n, taskRows), 1, a)
	for _, l := range starts {
		l.count()
	}
	a.starts = nil
	return nil
}

// Run does tasks [lo, hi), each taskRows rows.
func (a *assignment) Run(lo, hi int) {
	d, n := a.p.d, a.p.n
	centres := len(a.single) / d
	w := a.p.scratch(centres)
	for t := lo; t < hi; t++ {
		for _, l := range a.starts {
			l.changes[t] = l.changes[t][:0]
		}
		for row := t * taskRows; row < min((t+1)*taskRows, n); row += blockCols {
			end := min(row+blockCols, a.p.packed.Cols())
			a.p.packed.Dots(centres, a.single, d, row, end, -2, w.keys[:centres*blockCols], blockCols)
			keys := w.keys
			for _, l := range a.starts {
				l.choose(t, row, end-row, keys, w)
				keys = keys[l.k*blockCols:]
			}
		}
	}
	a.p.scratches.Put(w)
}

// prepare sets what the choice needs to know of the centres.
func (l *lloyd) prepare() {
	d := l.data.d
	l.longest = 0
	for c := range l.k {
		var s float64
		for _, v := range l.centre[c*d : (c+1)*d] {
			s += v * v
		}
		l.norm[c] = float32(s)
		l.longest = max(l.longest, math.Sqrt(s))
	}
}

// choose gives the cols rows from row on their nearest centres by keys
// (k, blockCols), and notes those that change.
func (l *lloyd) choose(task, row, cols int, keys []float32, w *blockScratch) {
	slope, offset := l.doubt()
	least := kernel.LeastKeys{Rows: l.k, Cols: cols, X: keys, LD: blockCols, B: l.norm, Length: l.data.length[row:],
		Slope: slope, Offset: offset, Old: l.padded[row:], Index: w.index, Value: w.value, Near: w.near, Moved: w.moved}
	least.Find()
	for v := range cols / 64 {
		m := w.moved[v] | w.near[v]
		if beyond := row + (v+1)*64 - l.data.n; beyond > 0 {
			m &= math.MaxUint64 >> min(beyond, 64)
		}
		for ; m != 0; m &= m - 1 {
			j := bits.TrailingZeros64(m)
			at := w.index[v*64+j]
			if w.near[v]>>j&1 == 1 {
				at = l.resolve(row+v*64+j, keys[v*64+j:])
			}
			if i := row + v*64 + j; at != l.labels[i] {
				l.changes[task] = append(l.changes[task], change{int32(i), l.labels[i]})
				l.labels[i] = at
			}
		}
	}
}

// errorBound bounds |key - (||c||^2 - 2 x.c)| for a row of the given length: the
// product, the centre and its square rounded to float32, and their sum.
func (l *lloyd) errorBound(length float64) float64 {
	const u = 0x1p-24
	return kernel.DotError(l.data.d)*2*length*l.longest + 4*u*(l.longest*l.longest+2*length*l.longest) + 0x1p-120
}

// doubt returns slope and offset of slope*length + offset, twice errorBound and
// more than what comparing in float32 adds to it.
func (l *lloyd) doubt() (slope, offset float32) {
	const more = 1 + 0x1p-10
	zero := l.errorBound(0)
	const u = 0x1p-24
	slope = float32(more * (2*(l.errorBound(1)-zero) + 4*u*l.longest))
	offset = float32(more * (2*zero + 2*u*l.longest*l.longest))
	return slope, offset
}

// resolve returns the nearest centre of row i, in float64, from its keys, which
// are blockCols apart.
func (l *lloyd) resolve(i int, keys []float32) int32 {
	least, at := float32(math.Inf(1)), 0
	for c := range l.k {
		if v := keys[c*blockCols] + l.norm[c]; v < least {
			least, at = v, c
		}
	}
	limit := float64(least) + 2*l.errorBound((1+0x1p-20)*float64(l.data.length[i]))
	best := -1.0 // squared distance to centre at, once another is as near
	for c := range l.k {
		if float64(keys[c*blockCols]+l.norm[c]) > limit || c == at {
			continue
		}
		if best < 0 {
			best = l.exact(i, at)
		}
		if e := l.exact(i, c); e < best || e == best && c < at {
			best, at = e, c
		}
	}
	return int32(at)
}

// exact returns the squared distance of row i to centre c, in float64.
func (l *lloyd) exact(i, c int) float64 {
	d := l.data.d
	return kernel.SquaredDistanceTo(l.data.row(i), l.centre[c*d:(c+1)*d])
}

// count brings the sizes up to date with the changes.
func (l *lloyd) count() {
	l.changed = 0
	for _, list := range l.changes {
		l.changed += len(list)
		for _, c := range list {
			if c.from >= 0 {
				l.size[c.from]--
			}
			l.size[l.labels[c.row]]++
		}
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
