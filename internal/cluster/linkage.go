package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/engine/pages"
	"tercet/internal/par"
)

// matrix is average or complete linkage on the distances of all pairs of clusters.
//
// Of each cluster it keeps a few that were nearest when it was last looked at, and a
// lower bound for the distance of all others. As distances are reducible, merges of
// others leave that bound valid: the nearest of the few, or of what they have become, is
// the nearest of all as long as it is within the bound. So few rows are searched.
type matrix struct {
	complete bool
	pairs    *pairs
	size     []int32 // rows of each cluster
	of       []int32 // one of its rows
	active   []int32 // slots in use, ascending
	sets     *Sets   // slots that were merged, under the one in use
	near     []nearby
	moved    []int32
	to       [2][]float32 // scratch: distances of active slots
}

// matrixRows is the number of rows whose distances are computed at a time, a multiple
// of panelRows.
const matrixRows = 64

func newMatrix(ctx context.Context, x []float32, data *centered, complete bool) (*matrix, error) {
	n := data.n
	m := &matrix{complete: complete, pairs: newPairs(n), size: make([]int32, n), of: make([]int32, n), active: make([]int32, n), sets: NewSets(n),
		near: make([]nearby, n), moved: make([]int32, n), to: [2][]float32{make([]float32, n), make([]float32, n)}}
	for i := range int32(n) {
		m.size[i], m.of[i], m.active[i] = 1, i, i
	}
	p := newPoints(data)
	p.raw = x
	var spare par.Free[[]float32]
	cols := p.packed.Cols()
	const group = 16 // blocks between two looks at ctx
	for first := 0; first < n; first += group * matrixRows {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the distances of %d rows: stopped after %d: %w", n, first, err)
		}
		par.For(min(n-first, group*matrixRows), matrixRows, func(a, b int) {
			w := spare.Get()
			if *w == nil {
				*w = pages.Make[float32](matrixRows * cols)
			}
			m.fill(p, first+a, first+b, *w)
			spare.Put(w)
		})
	}
	return m, nil
}

// fill computes the distances of rows [lo, hi).
func (m *matrix) fill(p *points, lo, hi int, dist []float32) {
	cols := p.packed.Cols()
	for c := 0; c < cols; c += silhouetteCols {
		p.packed.Dots(hi-lo, p.x[lo*p.d:], p.d, c, min(cols, c+silhouetteCols), 1, dist[c:], cols)
	}
	for i := lo; i < hi; i++ {
		row := dist[(i-lo)*cols:][:p.n]
		p.distances(i, 0, row)
		row[i] = float32(math.Inf(1))
		near := &m.near[i]
		near.reset()
		for j, v := range row {
			if v < near.bound {
				near.see(int32(j), v)
			}
		}
	}
	m.pairs.store(lo, hi, dist, cols)
}

func (m *matrix) first() int32      { return m.active[0] }
func (m *matrix) row(i int32) int32 { return m.of[i] }

func (m *matrix) nearest(i, prefer int32) (int32, float64) {
	near := &m.near[i]
	at, least := m.known(i)
	if at < 0 || least > near.bound {
		near.reset()
		row := m.pairs.gather(i, m.active, m.to[0])
		for a, j := range m.active {
			if v := row[a]; v < near.bound && j != i {
				near.see(j, v)
			}
		}
		at, least = m.known(i)
	}
	if prefer >= 0 && m.pairs.get(i, prefer) <= least {
		at = prefer
	}
	return at, float64(least)
}

// known returns the nearest to i of those kept, the lowest slot of equals.
func (m *matrix) known(i int32) (at int32, least float32) {
	at, least = -1, float32(math.Inf(1))
	near := &m.near[i]
	for _, j := range near.slot[:near.count] {
		if j = m.sets.Find(j); j == i {
			continue
		}
		if v := m.pairs.get(i, j); v < least || v == least && j < at {
			at, least = j, v
		}
	}
	return at, least
}

func (m *matrix) merge(a, b int32) {
	at := slices.Index(m.active, a)
	m.active = slices.Delete(m.active, at, at+1)
	m.sets.Parent[a] = b
	da, db := m.pairs.gather(a, m.active, m.to[0]), m.pairs.gather(b, m.active, m.to[1])
	wa, wb := float64(m.size[a]), float64(m.size[b])
	wa, wb = wa/(wa+wb), wb/(wa+wb)
	near := &m.near[b]
	near.reset()
	for i, v := range da {
		if m.complete {
			v = max(v, db[i])
		} else {
			v = float32(float64(wa*float64(v)) + float64(wb*float64(db[i])))
		}
		db[i] = v
		if v < near.bound && m.active[i] != b {
			near.see(m.active[i], v)
		}
	}
	m.pairs.scatter(b, m.active, db)
	m.size[b] += m.size[a]
}

// compact moves the distances together once a third of the slots are free, which keeps
// them near one another.
func (m *matrix) compact() []int32 {
	if 3*len(m.active) > 2*m.pairs.n || len(m.active) < 2 {
		return nil
	}
	for i := range m.moved {
		m.moved[i] = -1
	}
	for to, from := range m.active {
		m.moved[from] = int32(to)
	}
	m.pairs.keep(m.active)
	for i, from := range m.active {
		m.size[i], m.of[i], m.near[i] = m.size[from], m.of[from], m.near[from]
		near := &m.near[i]
		for k, j := range near.slot[:near.count] {
			near.slot[k] = m.moved[m.sets.Find(j)]
		}
	}
	for i := range m.active {
		m.active[i] = int32(i)
	}
	m.sets = NewSets(len(m.active))
	moved := m.moved
	m.moved = moved[:len(m.active)]
	return moved
}
