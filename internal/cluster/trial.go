package cluster

import (
	"math"
	"slices"

	"tercet/internal/engine/kernel"
	"tercet/internal/par"
)

// trial measures all rows against the candidates of several starts: one product
// of a block of rows with all of them, used while it is in the cache.
type trial struct {
	p          *points
	seedings   []*seeding
	candidates []float32 // rows of d numbers, those of one start after another
}

// run fills dist and sums of each seeding for its candidates in trying.
func (t *trial) run(all []*seeding) {
	t.seedings, t.candidates = all, t.candidates[:0]
	for _, s := range all {
		for _, i := range s.trying {
			t.candidates = append(t.candidates, t.p.row(i)...)
		}
	}
	par.Do(t.p.n, seedChunk, t)
	t.seedings = nil
}

// Run does rows [lo, hi), one chunk.
func (t *trial) Run(lo, hi int) {
	p := t.p
	candidates := len(t.candidates) / p.d
	w := p.scratch(candidates)
	w.lanes = slices.Grow(w.lanes[:0], candidates)[:candidates]
	clear(w.lanes)
	for row := lo; row < hi; row += blockCols {
		end := min(row+blockCols, p.packed.Cols())
		p.packed.Dots(candidates, t.candidates, p.d, row, end, -2, w.keys[:candidates*blockCols], blockCols)
		at := 0
		for _, s := range t.seedings {
			for c, i := range s.trying {
				x := w.keys[at*blockCols:][:end-row]
				if row <= i && i < end {
					x[i-row] = float32(math.Inf(-1)) // its own distance is 0
				}
				kernel.Nearer(x, p.squares[row:end], p.squares[i], s.nearest[row:end], s.dist[c][row:end], &w.lanes[at])
				at++
			}
		}
	}
	at := 0
	for _, s := range t.seedings {
		for c := range s.trying {
			var sum float64
			for _, v := range w.lanes[at] {
				sum += v
			}
			s.sums[c*s.chunks+lo/seedChunk] = sum
			at++
		}
	}
	p.scratches.Put(w)
}
