package cluster

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/par"
)

// matrix is average or complete linkage on the distances of all pairs of clusters.
//
// Of each cluster it keeps the nearest one and a lower bound for the distance of all
// others. As distances are reducible, other clusters' merges leave both valid unless
// the nearest one is merged itself; even then the merged one is the nearest if it is
// within the bound. So few rows of the matrix are ever searched.
type matrix struct {
	complete bool
	n        int       // slots
	dist     []float32 // above the diagonal, row by row
	size     []int32   // rows of each cluster
	of       []int32   // one of its rows
	active   []int32   // slots in use, ascending
	next     []int32   // the nearest, or -1 where not known
	least    []float32 // its distance
	bound    []float32 // no other is nearer than this
	moved    []int32
}

// at is where the distance of i and j > i is.
func (m *matrix) at(i, j int32) int {
	a, n := int(i), m.n
	return a*(2*n-a-1)/2 + int(j) - a - 1
}

func (m *matrix) get(i, j int32) float32 {
	if i > j {
		i, j = j, i
	}
	return m.dist[m.at(i, j)]
}

// matrixRows is the number of rows whose distances are computed at a time.
const matrixRows = 64

func newMatrix(ctx context.Context, x []float32, data *centred, complete bool) (*matrix, error) {
	n := data.n
	m := &matrix{complete: complete, n: n, dist: make([]float32, n*(n-1)/2), size: make([]int32, n), of: make([]int32, n),
		active: make([]int32, n), next: make([]int32, n), least: make([]float32, n), bound: make([]float32, n), moved: make([]int32, n)}
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
				*w = make([]float32, matrixRows*cols)
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
		end := min(cols, c+silhouetteCols)
		p.packed.Dots(hi-lo, p.x[lo*p.d:], p.d, c, end, 1, dist[c:], cols)
	}
	for i := lo; i < hi; i++ {
		row := dist[(i-lo)*cols:][:m.n]
		p.distances(i, 0, row)
		copy(m.dist[m.at(int32(i), int32(i)+1):], row[i+1:])
		s := newSearch()
		s.row(row[:i], 0)
		s.row(row[i+1:], int32(i)+1)
		m.next[i], m.least[i], m.bound[i] = s.at, s.least, s.second
	}
}

// search finds the least of several distances, the first of equals, and the least of
// all others.
type search struct {
	at            int32
	least, second float32
}

func newSearch() search {
	inf := float32(math.Inf(1))
	return search{at: -1, least: inf, second: inf}
}

func (s *search) see(at int32, v float32) {
	if v < s.second {
		if v < s.least {
			s.at, s.least, s.second = at, v, s.least
		} else {
			s.second = v
		}
	}
}

// row sees the distances to slots first, first+1, ...
func (s *search) row(dist []float32, first int32) {
	for j, v := range dist {
		if v < s.second {
			s.see(first+int32(j), v)
		}
	}
}

func (m *matrix) first() int32      { return m.active[0] }
func (m *matrix) row(i int32) int32 { return m.of[i] }

func (m *matrix) nearest(i, prefer int32) (int32, float64) {
	if m.next[i] < 0 {
		s := newSearch()
		for _, j := range m.active {
			if j != i {
				s.see(j, m.get(i, j))
			}
		}
		m.next[i], m.least[i], m.bound[i] = s.at, s.least, s.second
	}
	if prefer >= 0 && m.get(i, prefer) <= m.least[i] {
		return prefer, float64(m.least[i])
	}
	return m.next[i], float64(m.least[i])
}

func (m *matrix) merge(a, b int32) {
	wa, wb := float64(m.size[a]), float64(m.size[b])
	sum := wa + wb
	s := newSearch()
	at := 0
	for _, x := range m.active {
		if x == a {
			continue
		}
		m.active[at] = x
		at++
		if x == b {
			continue
		}
		to := &m.dist[m.at(min(b, x), max(b, x))]
		da, db := m.get(a, x), *to
		v := max(da, db)
		if !m.complete {
			v = float32((wa*float64(da) + wb*float64(db)) / sum)
		}
		*to = v
		s.see(x, v)
		if next := m.next[x]; next == a || next == b {
			if v <= m.bound[x] {
				m.next[x], m.least[x] = b, v
			} else {
				m.next[x] = -1
			}
		}
	}
	m.active = m.active[:at]
	m.next[b], m.least[b], m.bound[b] = s.at, s.least, s.second
	m.size[b] += m.size[a]
}

// compact moves the distances together once half of the slots are free, which keeps
// them near one another.
func (m *matrix) compact() []int32 {
	if 2*len(m.active) > m.n || len(m.active) < 2 {
		return nil
	}
	for i := range m.moved {
		m.moved[i] = -1
	}
	for to, from := range m.active {
		m.moved[from] = int32(to)
	}
	old, n := *m, len(m.active)
	m.n = n
	for i, from := range m.active {
		row := m.dist[m.at(int32(i), int32(i)+1):]
		for j, x := range m.active[i+1:] {
			row[j] = m.dist[old.at(from, x)]
		}
		m.size[i], m.of[i], m.least[i], m.bound[i] = m.size[from], m.of[from], m.least[from], m.bound[from]
		if m.next[i] = m.next[from]; m.next[i] >= 0 {
			m.next[i] = m.moved[m.next[i]]
		}
	}
	for i := range m.active {
		m.active[i] = int32(i)
	}
	moved := m.moved
	m.moved = moved[:n]
	m.dist = m.dist[:n*(n-1)/2]
	return moved
}
